//! Values out of bounds are refused, and the refusal names the field.

use proptest::{
    prelude::*,
    sample::{select, subsequence},
};
use quorum::{Error, Request, request::Simulate};
use serde_json::{Value, json};

use crate::{hostile::visible, requests::request, scope, trials};

/// A change that makes a request invalid, and the field that the refusal names.
type Break = (&'static str, fn(&mut Request, &Wrong));

/// Invalid values, generated for each case.
#[derive(Debug)]
struct Wrong {
    name: String,
    share: f64,
    way: bool,
}

fn wrong() -> impl Strategy<Value = Wrong> {
    let shares = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, -1e300, 2.1, 1e300];
    (visible(100), select(shares.to_vec()), any::<bool>()).prop_map(|(name, share, way)| Wrong {
        // No participant has such a name.
        name: format!("{name} !"),
        share,
        way,
    })
}

fn set(request: &mut Request, option: &str, value: impl Into<Value>) {
    request.settings.insert(option.to_owned(), value.into());
}

const BREAKS: &[Break] = &[
    ("topic", |request, wrong| request.topic = if wrong.way { " \n".to_owned() } else { "x".repeat(5_001) }),
    ("context", |request, _| request.context = Some("é".repeat(10_001))),
    ("pattern", |request, wrong| request.pattern = Some(wrong.name.clone())),
    ("providers", |request, wrong| {
        let count = if wrong.way { 1 } else { 7 };
        request.providers = Some((0..count).map(|number| format!("voice{number}")).collect());
    }),
    ("providers", |request, wrong| request.providers = Some(vec![wrong.name.clone(), "claude".to_owned()])),
    ("rounds", |request, wrong| request.rounds = Some(if wrong.way { 0 } else { 11 })),
    ("consensus", |request, wrong| request.consensus = Some(wrong.name.clone())),
    ("synthesizer", |request, wrong| set(request, "synthesizer", wrong.name.clone())),
    ("threshold", |request, wrong| set(request, "threshold", wrong.share)),
    ("threshold", |request, wrong| set(request, "threshold", wrong.name.clone())),
    ("synthesisPrompt", |request, _| set(request, "synthesisPrompt", "x".repeat(5_001))),
    ("no such field", |request, wrong| set(request, "no such field", wrong.share)),
    ("votingOptions", |request, wrong| request.voting_options = Some(vec![wrong.name.clone(); 1])),
    ("votingOptions", |request, wrong| request.voting_options = Some(vec![wrong.name.clone(); 3])),
    ("votingOptions", |request, _| request.voting_options = Some(vec!["a".repeat(501), String::new()])),
    ("providerPrompts", |request, wrong| {
        request.provider_prompts = Some([(wrong.name.clone(), "x".to_owned())].into());
    }),
    ("stopSequences", |request, wrong| {
        let sequences = if wrong.way { vec!["x".repeat(101)] } else { vec![String::new()] };
        set(request, "stopSequences", json!({ "claude": sequences }));
    }),
    ("roles", |request, wrong| request.roles = Some([(wrong.name.clone(), "judge".to_owned())].into())),
    ("roles", |request, wrong| request.roles = Some([("claude".to_owned(), wrong.name.clone())].into())),
    ("providerTimeout", |request, wrong| {
        request.provider_timeout = Some(if wrong.way { 4_999 } else { 300_001 });
    }),
    ("minProviders", |request, wrong| request.min_providers = Some(if wrong.way { 0 } else { u32::MAX })),
    ("temperature", |request, wrong| request.temperature = Some(wrong.share)),
    ("maxTokensPerTurn", |request, wrong| {
        request.max_tokens_per_turn = Some(if wrong.way { 15 } else { 200_001 });
    }),
    ("sessionId", |request, wrong| request.session_id = Some(wrong.name.clone())),
    ("budgetMs", |request, wrong| request.budget_ms = Some(if wrong.way { 999 } else { u64::MAX })),
    ("maxCalls", |request, _| request.max_calls = Some(0)),
    ("maxTokens", |request, _| request.max_tokens = Some(0)),
    ("maxCost", |request, wrong| request.max_cost = Some(if wrong.way { 0.0 } else { -wrong.share.abs() })),
    ("maxDepth", |request, wrong| {
        (request.recursive, request.max_depth) = (Some(wrong.way), Some(5));
    }),
    ("timeoutStrategy", |request, wrong| request.timeout_strategy = Some(wrong.name.clone())),
    ("confidenceThreshold", |request, wrong| {
        (request.early_exit, request.confidence_threshold) = (Some(wrong.way), Some(wrong.share));
    }),
    ("minRoundsBeforeConsensus", |request, _| set(request, "minRoundsBeforeConsensus", 11)),
    ("simulate", |request, wrong| {
        request.simulate = Some(Simulate { failure: Some(wrong.share), ..Simulate::default() });
    }),
    ("simulate", |request, wrong| {
        request.simulate = Some(Simulate { stubbornness: Some(wrong.share), ..Simulate::default() });
    }),
    ("simulate", |request, wrong| {
        request.simulate =
            Some(Simulate { dead: vec![format!("{} dead", wrong.name)], ..Simulate::default() });
    }),
    ("simulate", |request, _| {
        request.simulate = Some(Simulate { latency_ms: Some(300_001), ..Simulate::default() });
    }),
];

proptest! {
    #![proptest_config(trials(1))]

    #[test]
    fn a_request_out_of_bounds_is_refused_by_the_names_of_its_fields(
        mut request in request(),
        breaks in subsequence(BREAKS, 1..4),
        wrong in wrong(),
    ) {
        breaks.iter().for_each(|(_, apply)| apply(&mut request, &wrong));
        let refused = scope().check(&request);
        let Err(Error::Refused(refusals)) = refused else {
            return Err(TestCaseError::fail(format!("not refused: {breaks:?}")));
        };
        for (field, _) in breaks {
            // The field of one participant's prompt includes the participant.
            let is_named = refusals.iter().any(|it| it.field.split('.').next() == Some(field));
            prop_assert!(is_named, "{field} is not in {refusals:?}");
        }
        prop_assert!(refusals.iter().all(|it| !it.message.is_empty()));
    }
}
