//! Every kind of request within bounds.

use std::collections::BTreeSet;

use proptest::{
    collection::{btree_map, vec},
    option::of,
    prelude::*,
    sample::{Index, select},
};
use quorum::{
    Quorum, Request,
    model::{
        debate::{Diversity, Format, JudgeFailure, Judging, Mode},
        spec::TimeoutStrategy,
    },
    request::Simulate,
};

use crate::hostile::{text, visible};

/// With other names, models, numbers and repetitions.
const NAMES: [&str; 10] = [
    "claude",
    "gemini",
    "qwen",
    "glm",
    "anthropic",
    "claude-2",
    "claude/opus-4.1",
    "nobody_knows:this",
    "é",
    "openrouter/a/b",
];

const HOUR_MS: u64 = 3_600_000;

/// Anything that may be asked.
pub(crate) fn request() -> impl Strategy<Value = Request> {
    (table(), deciding(), bounds(), recursion(), texts(), simulate()).prop_map(
        |(table, deciding, bounds, recursion, texts, simulate)| {
            let Request { providers, pattern, rounds, roles, min_providers, .. } = table;
            let names = providers.clone().unwrap_or_default();
            let mut request = Request {
                providers,
                pattern,
                rounds,
                roles,
                min_providers,
                consensus: deciding.consensus,
                threshold: deciding.threshold,
                include_dissent: deciding.include_dissent,
                early_exit: deciding.early_exit,
                confidence_threshold: deciding.confidence_threshold,
                require_both_consensus: deciding.require_both_consensus,
                min_rounds_before_consensus: deciding.min_rounds_before_consensus,
                recursive: recursion.recursive,
                max_depth: recursion.max_depth,
                timeout_strategy: recursion.timeout_strategy,
                simulate: Some(Simulate { dead: dead(&names, &simulate), ..simulate.0 }),
                ..bounds
            };
            texts.fill(&mut request, &names);
            request
        },
    )
}

/// Every kind of debate.
pub(crate) fn debating() -> impl Strategy<Value = Request> {
    let formats = Format::ALL.map(Format::name).to_vec();
    let judging = (of(select(Judging::ALL.map(Judging::name).to_vec())), any::<bool>());
    let failing = of(select(JudgeFailure::ALL.map(JudgeFailure::name).to_vec()));
    let casting = of(select(Diversity::ALL.map(Diversity::name).to_vec()));
    let methods: Vec<&str> = Quorum::methods().iter().map(|it| it.name).collect();
    let talk = (select(formats), select(Mode::ALL.map(Mode::name).to_vec()), 2..5_u32, 2..6_usize);
    (talk, judging, failing, casting, select(methods)).prop_map(
        |((format, mode, rounds, count), (judging, swap), failing, casting, method)| {
            let structured = format == Format::StructuredRounds.name();
            let judged = !matches!(format, "free-form" | "convergence-seeking");
            Request {
                pattern: Some("debate".to_owned()),
                providers: Some(NAMES[..count].iter().map(|it| (*it).to_owned()).collect()),
                debate_format: Some(format.to_owned()),
                mode: Some(mode.to_owned()),
                rounds: structured.then_some(rounds),
                round_limit: (!structured).then_some(rounds),
                judging: judging.filter(|_| judged).map(str::to_owned),
                swap_check: Some(swap),
                judge_failure: failing.map(str::to_owned),
                casting: casting.map(str::to_owned),
                consensus: Some(method.to_owned()),
                synthesizer: Some(NAMES[0].to_owned()),
                min_providers: Some(1),
                ..Request::on("Tabs or spaces?")
            }
        },
    )
}

/// Who sits there: two for a dialogue, and never so many judges that nobody is left to talk.
fn table() -> impl Strategy<Value = Request> {
    let patterns: Vec<&str> = Quorum::patterns().iter().map(|it| it.name).collect();
    let people =
        (vec(select(&NAMES[..]), 6), 2..=6_usize, of(select(&["proponent", "opponent", "judge"][..])));
    (select(patterns), people, of(1..=10_u32), of(any::<Index>())).prop_map(
        |(pattern, (names, count, role), rounds, least)| {
            let count = if pattern == "dialogue" { 2 } else { count };
            let names: Vec<String> = names[..count].iter().map(|it| (*it).to_owned()).collect();
            let role = role.filter(|role| *role != "judge" || count > 2);
            let least = least.map(|it| if count == 2 { 2 } else { it.index(count) as u32 + 1 });
            Request {
                roles: role.map(|role| [(names[0].clone(), role.to_owned())].into()),
                providers: Some(names),
                pattern: Some(pattern.to_owned()),
                rounds,
                min_providers: least,
                ..Request::default()
            }
        },
    )
}

fn deciding() -> impl Strategy<Value = Request> {
    let methods: Vec<&str> = Quorum::methods().iter().map(|it| it.name).collect();
    let dialogue = (of(any::<bool>()), of(0..=10_u32));
    (of(select(methods)), of(0.0..=1.0), of(any::<bool>()), of(of(0.0..=1.0)), dialogue).prop_map(
        |(method, threshold, include_dissent, enough, (both, min_rounds))| Request {
            consensus: method.map(str::to_owned),
            threshold,
            include_dissent,
            early_exit: enough.map(|_| true),
            confidence_threshold: enough.flatten(),
            require_both_consensus: both,
            min_rounds_before_consensus: min_rounds,
            ..Request::default()
        },
    )
}

fn bounds() -> impl Strategy<Value = Request> {
    let time = (of(prop_oneof![1_000..=60_000_u64, 1_000..=24 * HOUR_MS]), of(5_000..=300_000_u64));
    let money = (of(1e-9..10.0), any::<bool>());
    let tokens =
        (of(prop_oneof![1..2_000_u64, 1..200_000_u64]), of(prop_oneof![16..64_u32, 16..=200_000_u32]));
    (time, money, tokens, of(1..60_u32), of(0.0..=2.0), any::<bool>()).prop_map(
        |(
            (budget_ms, provider_timeout),
            (max_cost, unpriced),
            (tokens, a_turn),
            max_calls,
            temperature,
            go_on,
        )| Request {
            budget_ms,
            provider_timeout,
            max_cost,
            allow_unpriced: Some(unpriced),
            max_tokens: tokens,
            max_tokens_per_turn: a_turn,
            max_calls,
            temperature,
            continue_on_provider_failure: Some(go_on),
            ..Request::default()
        },
    )
}

fn recursion() -> impl Strategy<Value = Request> {
    let strategies = TimeoutStrategy::ALL.map(TimeoutStrategy::name).to_vec();
    of((of(0..=4_u32), of(select(strategies)))).prop_map(|recursion| Request {
        recursive: recursion.map(|_| true),
        max_depth: recursion.and_then(|it| it.0),
        timeout_strategy: recursion.and_then(|it| it.1).map(str::to_owned),
        ..Request::default()
    })
}

/// How voices behave, and which of them are dead by their place.
type Behaviour = (Simulate, Vec<Index>);

fn simulate() -> impl Strategy<Value = Behaviour> {
    let latency = of(prop_oneof![0..=2_000_u64, 0..=300_000_u64]);
    let dead = prop_oneof![3 => Just(Vec::new()), 1 => vec(any::<Index>(), 0..4)];
    (latency, of(0.0..=0.9), of(0.0..=1.0), dead).prop_map(|(latency_ms, failure, stubbornness, dead)| {
        (Simulate { latency_ms, failure, stubbornness, ..Simulate::default() }, dead)
    })
}

fn dead(names: &[String], behaviour: &Behaviour) -> Vec<String> {
    let name = |place: &Index| place.get(names).split('/').next().unwrap_or_default().to_owned();
    behaviour.1.iter().map(name).collect()
}

/// Everything people write themselves.
#[derive(Debug)]
struct Texts {
    topic: String,
    context: Option<String>,
    synthesis_prompt: Option<String>,
    options: Vec<String>,
    prompts: Vec<(Index, String)>,
    synthesizer: Option<Index>,
    seed: u64,
}

fn texts() -> impl Strategy<Value = Texts> {
    let free = (visible(5_000), of(text(10_000)), of(text(5_000)));
    let options = prop_oneof![Just(Vec::new()), vec(text(500), 2..12)];
    let prompts = btree_map(0..6_usize, text(2_000), 0..3);
    (free, options, prompts, of(any::<Index>()), any::<u64>(), any::<Index>()).prop_map(
        |((topic, context, synthesis_prompt), options, prompts, synthesizer, seed, whose)| Texts {
            topic,
            context,
            synthesis_prompt,
            options,
            prompts: prompts.into_values().map(|prompt| (whose, prompt)).collect(),
            synthesizer,
            seed,
        },
    )
}

impl Texts {
    fn fill(self, request: &mut Request, names: &[String]) {
        let votes = request.pattern.as_deref() == Some("voting");
        let moderated = request.consensus.as_deref() == Some("moderator");
        let synthesizer = self.synthesizer.map(|place| place.get(names).clone());
        request.synthesizer = synthesizer.or_else(|| moderated.then(|| names[0].clone()));
        request.voting_options = (votes || !self.options.is_empty()).then(|| different(self.options));
        let prompts = self.prompts.into_iter().map(|(whose, prompt)| (whose.get(names).clone(), prompt));
        request.provider_prompts = Some(prompts.collect());
        request.topic = self.topic;
        request.context = self.context;
        request.synthesis_prompt = self.synthesis_prompt;
        request.seed = Some(self.seed);
    }
}

/// At least two options, none empty, none twice.
fn different(options: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let usual = ["tabs", "spaces"].map(str::to_owned);
    let all = options.into_iter().chain(usual);
    all.filter(|it| !it.trim().is_empty() && seen.insert(it.trim().to_owned())).take(10).collect()
}
