//! Generates every kind of request within bounds.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{
    collection::{btree_map, vec},
    option::of,
    prelude::*,
    sample::{Index, select},
};
use quorum::{
    Request, built_in,
    model::spec::TimeoutStrategy,
    patterns::debate::{Diversity, Format, JudgeFailure, Judging, Mode},
    request::Simulate,
    vocabulary::option::Named,
};
use serde_json::{Value, json};

use crate::hostile::{text, visible};

/// Aliases, models, numbers and duplicates.
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

/// Any valid request.
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
                include_dissent: deciding.include_dissent,
                show_names: deciding.show_names,
                early_exit: deciding.early_exit,
                confidence_threshold: deciding.confidence_threshold,
                settings: deciding.settings,
                recursive: recursion.recursive,
                max_depth: recursion.max_depth,
                timeout_strategy: recursion.timeout_strategy,
                simulate: Some(Simulate { dead: dead(&names, &simulate), ..simulate.0 }),
                ..bounds
            };
            texts.fill(&mut request, &names);
            keep_what_counts(&mut request);
            request
        },
    )
}

/// Options by name, without those that are `None`.
fn settings(options: &[(&str, Option<Value>)]) -> BTreeMap<String, Value> {
    let given = options.iter().filter_map(|(name, value)| Some(((*name).to_owned(), value.clone()?)));
    given.collect()
}

/// Drops the options that do not apply to the request's pattern and method.
fn keep_what_counts(request: &mut Request) {
    let registry = built_in();
    let pattern = request.pattern.as_deref().and_then(|name| registry.pattern(name)).unwrap();
    let usual =
        Some(pattern.defaults.method).filter(|it| !it.is_empty()).unwrap_or(registry.methods()[0].name);
    let method = request.consensus.as_deref().unwrap_or(usual);
    let counting = registry.options_for(pattern.name, method, registry.strategies()[0].name);
    request.settings.retain(|name, _| counting.iter().any(|it| it.name == name));
}

fn all_names<T: Named>() -> Vec<&'static str> {
    T::CHOICES.iter().map(|it| it.name).collect()
}

/// Every kind of debate.
pub(crate) fn debating() -> impl Strategy<Value = Request> {
    let judging = (of(select(all_names::<Judging>())), any::<bool>());
    let failing = of(select(all_names::<JudgeFailure>()));
    let casting = of(select(all_names::<Diversity>()));
    let methods: Vec<&str> = built_in().methods().iter().map(|it| it.name).collect();
    let talk = (select(all_names::<Format>()), select(all_names::<Mode>()), 2..5_u32, 2..6_usize);
    (talk, judging, failing, casting, select(methods)).prop_map(
        |((format, mode, rounds, count), (judging, swap), failing, casting, method)| {
            let structured = format == Format::StructuredRounds.name();
            let judged = !matches!(format, "free-form" | "convergence-seeking");
            Request {
                pattern: Some("debate".to_owned()),
                providers: Some(NAMES[..count].iter().map(|it| (*it).to_owned()).collect()),
                rounds: structured.then_some(rounds),
                consensus: Some(method.to_owned()),
                min_providers: Some(1),
                settings: settings(&[
                    ("debateFormat", Some(json!(format))),
                    ("mode", Some(json!(mode))),
                    ("roundLimit", (!structured).then(|| json!(rounds))),
                    ("judging", judging.filter(|_| judged).map(Value::from)),
                    ("swapCheck", Some(json!(swap))),
                    ("judgeFailure", failing.map(Value::from)),
                    ("casting", casting.map(Value::from)),
                    ("synthesizer", Some(json!(NAMES[0]))),
                ]),
                ..Request::on("Tabs or spaces?")
            }
        },
    )
}

/// The participants: two for a dialogue, and never so many judges that no speaker is left.
fn table() -> impl Strategy<Value = Request> {
    let patterns: Vec<&str> = built_in().patterns().iter().map(|it| it.name).collect();
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
    let methods: Vec<&str> = built_in().methods().iter().map(|it| it.name).collect();
    let dialogue = (of(any::<bool>()), of(0..=10_u32));
    (of(select(methods)), of(0.0..=1.0_f64), of(any::<bool>()), of(of(0.0..=1.0)), dialogue).prop_map(
        |(method, threshold, include_dissent, enough, (both, min_rounds))| Request {
            consensus: method.map(str::to_owned),
            include_dissent,
            show_names: both.filter(|it| *it),
            early_exit: enough.map(|_| true),
            confidence_threshold: enough.flatten(),
            settings: settings(&[
                ("threshold", threshold.map(Value::from)),
                ("requireBothConsensus", both.map(Value::from)),
                ("minRoundsBeforeConsensus", min_rounds.map(Value::from)),
            ]),
            ..Request::default()
        },
    )
}

fn bounds() -> impl Strategy<Value = Request> {
    let time = (of(prop_oneof![1_000..=60_000_u64, 1_000..=24 * HOUR_MS]), of(5_000..=300_000_u64));
    let money = (of(1e-9..10.0), any::<bool>());
    let tokens =
        (of(prop_oneof![1..2_000_u64, 1..200_000_u64]), of(prop_oneof![16..64_u32, 16..=200_000_u32]));
    // A limit without room for a single speech is refused.
    (time, money, tokens, of(24..60_u32), of(0.0..=2.0), any::<bool>()).prop_map(
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

/// The behaviour of voices, and the indexes of dead ones.
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

/// All texts that people write themselves.
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
        let votes = request.pattern.as_deref().is_some_and(|it| ["voting", "settle"].contains(&it));
        let moderated = request.consensus.as_deref() == Some("moderator");
        let synthesizer = self.synthesizer.map(|place| place.get(names).clone());
        let synthesizer = synthesizer.or_else(|| moderated.then(|| names[0].clone()));
        request.voting_options = (votes || !self.options.is_empty()).then(|| different(self.options));
        let prompts = self.prompts.into_iter().map(|(whose, prompt)| (whose.get(names).clone(), prompt));
        request.provider_prompts = Some(prompts.collect());
        request.topic = self.topic;
        request.context = self.context;
        request.seed = Some(self.seed);
        request.settings.extend(settings(&[
            ("synthesizer", synthesizer.map(Value::from)),
            ("synthesisPrompt", self.synthesis_prompt.map(Value::from)),
        ]));
    }
}

/// At least two options, none empty, no two alike but for case or punctuation.
fn different(options: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let usual = ["tabs", "spaces"].map(str::to_owned);
    let letters = |option: &String| -> String {
        option.to_lowercase().chars().filter(|it| it.is_alphanumeric()).collect()
    };
    let all = options.into_iter().chain(usual);
    all.filter(|it| !letters(it).is_empty() && seen.insert(letters(it))).take(10).collect()
}
