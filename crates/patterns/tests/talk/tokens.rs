//! The tokens of every prompt as it is sent, and how much of what a seat is sent repeats an earlier
//! request to it.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use quorum_core::{
    call::{Message, tokens::Family},
    model::{
        participant::Participant,
        spec::{Manner, Spec},
    },
};
use quorum_testkit::{
    panel::{AskedCall, panel},
    spec::{deciding_by, spec},
};

use crate::table;

/// Pattern, method, seats and rounds.
const DISCUSSIONS: [(&str, &str, usize, u32); 10] = [
    ("synthesis", "synthesis", 4, 2),
    ("round-robin", "synthesis", 4, 2),
    ("critique", "synthesis", 4, 2),
    ("voting", "voting", 3, 2),
    ("dialogue", "synthesis", 2, 2),
    ("debate", "synthesis", 3, 3),
    ("roundtable", "synthesis", 3, 3),
    ("synthesis", "moderator", 3, 1),
    ("synthesis", "unanimous", 3, 1),
    ("roundtable", "voting", 3, 1),
];

/// A speech of about 300 tokens that is like no other.
fn speech(place: usize, round: u32) -> String {
    let first = 1_000 * (10 * place + round as usize);
    (first..first + 100).map(|it| it.to_string()).collect::<Vec<_>>().join(" ")
}

/// All requests of a discussion in which nothing ends early.
async fn asked_in((pattern, method, seats, _): (&str, &str, usize, u32), rounds: u32) -> Vec<AskedCall> {
    let manner = Manner { temperature: 0.7, max_tokens: 2_048 };
    let mut order = deciding_by(Spec { rounds, manner, ..spec(pattern) }, method);
    let dan = Participant { name: "dan".to_owned(), ..Participant::of("scripted") };
    order.participants.extend((order.participants.len() < seats).then_some(dan));
    match (pattern, method) {
        ("debate", _) => order.settings.set("casting", "binary"),
        ("voting", _) => order.settings.set("threshold", 1),
        (_, "voting") => order.options = ["tabs", "spaces"].map(str::to_owned).to_vec(),
        _ => {}
    }
    let open = "[REASONING]\nMuch is.\n[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n[CONFIDENCE]\n80";
    let mut voices = panel().writes("*", "consensus-check", open);
    if !order.options.is_empty() {
        voices = voices.votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9);
    }
    for (place, who) in ["ann", "bob", "cyd", "dan"].into_iter().enumerate() {
        for round in 1..=5 {
            voices = voices.says_in(who, round, &speech(place, round));
        }
    }
    let table = table(&voices);
    table.hold(order).await;
    table.panel.asked()
}

/// The tokens of what we wrote: the system text, and the task with its form.
fn ours(asked: &AskedCall) -> (u64, u64) {
    let asks = asked.call.messages.iter().filter_map(|it| match it {
        Message::Ask(text) => Some(Family::O200k.estimate(text)),
        Message::Said { .. } | Message::Found { .. } => None,
    });
    (Family::O200k.estimate(&asked.call.system), asks.sum())
}

/// The share of all tokens that repeats the beginning of an earlier request to the same seat.
fn repeated(asked: &[AskedCall]) -> u64 {
    let mut earlier: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut all, mut again) = (0, 0);
    for it in asked {
        let messages: Vec<String> = it.call.render().into_iter().map(|it| it.1).collect();
        let whole = format!("{}\n{}", it.call.system, messages.join("\n"));
        let before = earlier.entry(&it.call.participant.name).or_default();
        let same = |one: &String| -> usize {
            let pairs = one.chars().zip(whole.chars()).take_while(|(one, other)| one == other);
            pairs.map(|it| it.0.len_utf8()).sum()
        };
        let longest = before.iter().map(same).max().unwrap_or_default();
        all += Family::O200k.estimate(&whole);
        again += Family::O200k.estimate(&whole[..longest]);
        before.push(whole);
    }
    100 * again / all
}

/// A discussion as lines: its sums, and the first request of each kind.
async fn listed(discussion: (&str, &str, usize, u32)) -> String {
    let (pattern, method, seats, rounds) = discussion;
    let asked = asked_in(discussion, rounds).await;
    let instructions: u64 = asked.iter().map(ours).map(|(system, task)| system + task).sum();
    let (share, longer) = (repeated(&asked), repeated(&asked_in(discussion, 5).await));
    let mut text = format!(
        "{pattern} by {method}, seats {seats}, rounds {rounds}, requests {}: {instructions} tokens of \
         instructions; {share} % repeated, {longer} % in five rounds\n",
        asked.len()
    );
    let mut kinds: Vec<String> = Vec::new();
    for it in &asked {
        let step = it.step.as_str().replace(&format!("/{}", it.call.participant.name), "");
        if kinds.contains(&step) {
            continue;
        }
        let (system, task) = ours(it);
        writeln!(text, "  {step}: system {system}, task {task}").unwrap();
        kinds.push(step);
    }
    text
}

#[tokio::test(start_paused = true)]
async fn every_prompt_takes_the_tokens_that_are_on_file() {
    let mut all = String::new();
    for discussion in DISCUSSIONS {
        all += &listed(discussion).await;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tokens.txt");
    if std::env::var_os("QUORUM_BLESS").is_some() {
        fs::write(&file, &all).unwrap();
    }
    let kept = fs::read_to_string(file).unwrap_or_default();
    assert_eq!(kept, all, "set QUORUM_BLESS=1 to write it anew");
}

/// The decision that sets each prompt beside what it was before.
const BESIDE: &str = "../../docs/decisions/prompts-before-and-now.md";

#[test]
fn the_page_that_compares_prompts_has_the_tokens_that_are_on_file() {
    let read = |file: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let (page, kept) = (read(BESIDE), read("tests/golden/tokens.txt"));
    let (mut counted, mut compared) = ("", 0);
    for line in page.lines() {
        // A heading like "`debate` by `synthesis`".
        if let Some(heading) = line.strip_prefix("### `") {
            let discussion = format!("{}, seats", heading.replace('`', ""));
            counted = kept.split(&discussion).nth(1).and_then(|it| it.split("five rounds\n").nth(1)).unwrap();
        }
        let Some(row) = line.strip_prefix("| `") else { continue };
        let (step, now) = (row.split('`').next().unwrap(), row.trim_end_matches(" |").rsplit(" | ").next());
        let Some((system, task)) = now.unwrap().split_once(" + ") else { continue };
        let expected = format!("  {step}: system {system}, task {task}\n");
        let first = counted.find(&format!("  {step}: ")).unwrap();
        assert!(counted[first..].starts_with(&expected), "{line}");
        compared += 1;
    }
    assert!(20 < compared, "only {compared} rows");
}
