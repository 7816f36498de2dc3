//! Every prompt as it is sent, for twenty questions and all patterns: whole, in the right language,
//! blind where it has to be, and with one system text for each seat.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    call::{Call, Message, MessageRole, tokens::Family},
    model::{
        participant::Participant,
        spec::{Manner, Spec},
    },
};
use quorum_patterns::PATTERNS;
use quorum_testkit::{
    panel::{AskedCall, Panel, panel},
    spec::{deciding_by, spec},
    table::Table,
    wording::breaches,
};
use serde_json::{Value, json};

use crate::table;

/// Questions, each with the language that its prompts name.
const QUESTIONS: [(&str, &str); 20] = [
    ("tabs or spaces?", "English"),
    ("Should we rewrite the service in Rust?", "English"),
    ("Which database fits a small team?", "English"),
    ("How do we keep reviews short?", "English"),
    ("Is remote work better than an office?", "English"),
    ("What would make the release process safer?", "English"),
    ("Use Google Cloud, or run our own machines?", "English"),
    ("Why does the build take ten minutes?", "English"),
    ("Sollten wir auf Rust umsteigen?", "German"),
    ("Postgres oder MySQL für den Anfang?", "German"),
    ("Welche Sprache ist die beste für uns?", "German"),
    ("Wie halten wir die Dokumentation aktuell?", "German"),
    ("Ist eine Vier-Tage-Woche möglich?", "German"),
    ("タブとスペースのどちらがよいですか?", "Japanese"),
    ("Rustに書き直すべきですか?", "Japanese"),
    ("どのデータベースを選びますか?", "Japanese"),
    ("テストをどう速くしますか?", "Japanese"),
    ("リモートワークは続けるべきか?", "Japanese"),
    ("Faut-il réécrire le service en Rust ?", "French"),
    ("Microservices?", "the language of the question"),
];

fn order(pattern: &str, topic: &str) -> Spec {
    let manner = Manner { temperature: 0.7, max_tokens: 2_048 };
    let order = Spec { topic: topic.to_owned(), manner, rounds: 2, ..spec(pattern) };
    let settings = match pattern {
        "debate" => order.settings.clone().with("casting", "binary"),
        _ => order.settings.clone(),
    };
    Spec { settings, ..order }
}

async fn asked_in(order: Spec) -> Vec<AskedCall> {
    asked_of(panel(), order).await
}

async fn asked_of(panel: Panel, order: Spec) -> Vec<AskedCall> {
    let table: Table = table(&panel);
    table.hold(order).await;
    table.panel.asked()
}

/// The same with options, which are voted on at the end.
fn with_options(order: Spec, method: &str) -> Spec {
    Spec { options: ["tabs", "spaces"].map(str::to_owned).to_vec(), ..deciding_by(order, method) }
}

/// Whether the pattern itself has the participants vote.
fn votes_itself(pattern: &str) -> bool {
    ["voting", "settle"].contains(&pattern)
}

/// Whether it asks for an answer before the talk, blind. Where the pattern votes, that is its first
/// round.
fn is_blind_first(asked: &AskedCall) -> bool {
    asked.step.as_str().starts_with("0/first/") && !votes_itself(&asked.call.spec.pattern)
}

/// The last message.
fn task(asked: &AskedCall) -> String {
    asked.call.render().pop().unwrap().1
}

fn kind(asked: &AskedCall) -> Option<&'static str> {
    asked.call.shape.as_ref().map(|it| it.form.kind)
}

fn said(asked: &AskedCall) -> usize {
    asked.call.messages.iter().filter(|it| matches!(it, Message::Said { .. })).count()
}

#[tokio::test(start_paused = true)]
async fn every_prompt_as_sent_is_whole_and_in_the_language_of_its_question() {
    for (topic, language) in QUESTIONS {
        for pattern in PATTERNS {
            for asked in asked_in(order(pattern.name, topic)).await {
                let (step, task) = (asked.step.to_string(), task(&asked));
                let ours = format!("{}\n\n{task}", asked.call.system);
                for wrong in ["{{", "}}", "\n\n\n", "\u{f8f0}", "\u{f8f1}"] {
                    assert!(!ours.contains(wrong), "{step}: {wrong:?} in\n{ours}");
                }
                assert_eq!(breaches_in(&asked, topic), [""; 0], "{step}:\n{ours}");
                assert!(ours.contains(topic), "{step}: the question is missing in\n{ours}");
                let last = task.lines().last().unwrap();
                assert!(last.ends_with(&format!(" in {language}.")), "{topic}: {step} ends with {last:?}");
                let unit = if language == "Japanese" { " characters in " } else { " words in " };
                assert!(kind(&asked).is_some() || last.contains(unit), "{step}: {last:?}");
            }
        }
    }
}

/// The rules of wording that a request breaks, in what is ours of it.
fn breaches_in(asked: &AskedCall, topic: &str) -> Vec<&'static str> {
    let sent = format!("{}\n{}", asked.call.system, task(asked)).replace(topic, "");
    let ours: Vec<&str> = sent.lines().filter(|line| !line.starts_with('>')).collect();
    // A dialogue's check is about consensus, and so are the minutes of its checks.
    let is_of_a_dialogue = asked.call.spec.pattern == "dialogue" && kind(asked).is_some();
    let is_allowed = |breach: &&str| is_of_a_dialogue && *breach == "consensus";
    breaches(&ours.join("\n")).into_iter().filter(|it| !is_allowed(it)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_breach_of_wording_in_what_is_sent_is_found() {
    let asked = asked_in(order("synthesis", "tabs or spaces?")).await.swap_remove(0);
    assert_eq!(breaches_in(&asked, "tabs or spaces?"), [""; 0]);
    let saying = |text: &str| {
        let system = format!("{}\n{text}", asked.call.system).into();
        let call = Arc::new(Call { system, ..(*asked.call).clone() });
        breaches_in(&AskedCall { call, ..asked.clone() }, "tabs or spaces?")
    };
    assert_eq!(saying("Find a majority."), ["majority"]);
    assert_eq!(saying("Say “so”."), ["quotation marks that are not ASCII"]);
    assert_eq!(saying(&"so ".repeat(201)), ["a line that is too long"]);
    assert_eq!(saying("> Find a majority."), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_103_first_answers_first_ballots_and_castings_are_blind() {
    let blind = [
        ("synthesis", "1/answering/"),
        ("voting", "0/first/"),
        ("debate", "0/casting/"),
        ("debate", "1/awaiting-responses/"),
    ];
    for (pattern, begins) in blind {
        let asked = asked_in(order(pattern, "tabs or spaces?")).await;
        let asked: Vec<_> = asked.into_iter().filter(|it| it.step.as_str().starts_with(begins)).collect();
        assert!(!asked.is_empty(), "{begins}");
        for it in asked {
            let sent: Vec<String> = it.call.render().into_iter().map(|it| it.1).collect();
            assert!(!sent.concat().contains("<said-"), "{}: {sent:?}", it.step);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_013_a_later_ballot_shows_no_names_counts_or_confidences() {
    let split = panel().votes("ann", "tabs", 0.9).votes("bob", "tabs", 0.83).votes("cyd", "spaces", 0.7);
    let table = table(&split);
    let mut order = order("voting", "tabs or spaces?");
    order.settings.set("threshold", 0.95);
    table.hold(order).await;
    let later: Vec<AskedCall> =
        table.panel.asked().into_iter().filter(|it| it.step.as_str().starts_with("2/voting/")).collect();
    assert_eq!(later.len(), 3);
    for it in later {
        let shown = task(&it).split("Vote, alone and in secret.").next().unwrap().to_owned();
        assert!(!shown.contains(|it: char| it.is_ascii_digit()), "{shown}");
        assert!(!shown.contains("confidence") && !shown.contains("ann voted"), "{shown}");
        assert!(shown.contains("Keep your vote unless you find one."), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_writer_and_a_judge_are_shown_no_turn_as_their_own() {
    for pattern in PATTERNS {
        let order = deciding_by(order(pattern.name, "tabs or spaces?"), "synthesis");
        let asked = asked_in(order).await;
        let outside = ["synthesis", "assessment", "verdict", "casting"];
        let outside = asked.iter().filter(|it| kind(it).is_some_and(|it| outside.contains(&it)));
        for it in outside {
            let own = it.call.render().iter().filter(|it| it.0 == MessageRole::Assistant).count();
            assert_eq!(own, 0, "{}: {}", pattern.name, it.step);
        }
    }
}

/// What this seat is asked as itself: its turns, checks and votes.
fn is_of_the_seat(asked: &AskedCall) -> bool {
    let is_own = kind(asked).is_none_or(|kind| ["ballot", "consensus-check"].contains(&kind));
    // Those who take no turns vote once, after a debate.
    is_own && !asked.call.participant.aside
}

/// Whether one text has only paragraphs of the other, in the same order.
fn is_part_of(part: &str, whole: &str) -> bool {
    let mut paragraphs = whole.split("\n\n");
    part.split("\n\n").all(|wanted| paragraphs.any(|it| it == wanted))
}

#[tokio::test(start_paused = true)]
async fn a_seat_has_one_system_text_from_its_first_turn_to_its_last_vote() {
    for (pattern, method) in
        PATTERNS.iter().flat_map(|it| ["unanimous", "voting"].map(|method| (it.name, method)))
    {
        let plain = deciding_by(order(pattern, "tabs or spaces?"), method);
        for order in [plain.clone(), with_options(plain, method)] {
            let asked = asked_in(order.clone()).await;
            let (firsts, asked): (Vec<_>, Vec<_>) =
                asked.into_iter().filter(is_of_the_seat).partition(is_blind_first);
            let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for it in &asked {
                let seat = it.call.participant.name.clone();
                texts.entry(seat).or_default().push(it.call.system.to_string());
            }
            assert!(1 < texts.len(), "{pattern}");
            for (seat, texts) in &texts {
                // A vote that is not open is not repeated.
                assert!(
                    1 < texts.len() || votes_itself(pattern),
                    "{pattern}, {method}: {seat} was asked once"
                );
                assert!(texts.iter().all(|it| *it == texts[0]), "{pattern}, {method}: {seat} {texts:#?}");
            }
            // The exception: a blind first answer is asked for with the frame alone.
            let is_asked_first = !order.options.is_empty() && !votes_itself(pattern);
            assert_eq!(!firsts.is_empty(), is_asked_first, "{pattern}, {method}");
            for it in firsts {
                let (frame, text) = (&it.call.system, &texts[&it.call.participant.name][0]);
                assert!(
                    is_part_of(frame, text) && **frame != **text,
                    "{pattern}, {method}: {frame}\n\n{text}"
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_begins_with_the_turns_of_the_request_before() {
    let says = "Whoever has to choose, has the choice: a vote is a vote.\nI choose tabs.\nMy vote: tabs.";
    for pattern in PATTERNS {
        let plain = order(pattern.name, "tabs or spaces?");
        let voted = ["majority", "voting"].map(|method| with_options(plain.clone(), method));
        for order in voted.into_iter().chain([plain]) {
            let method = order.consensus.method.clone();
            let mut before: BTreeMap<String, (String, Vec<(MessageRole, String)>)> = BTreeMap::new();
            for it in asked_of(panel().says("*", says), order).await {
                // A writer and a judge see all turns in an order of their own, a check only the
                // last ones, and a first answer has a system text of its own.
                let others = ["synthesis", "check", "assessment", "verdict", "casting"];
                if kind(&it).is_some_and(|it| others.contains(&it)) || is_blind_first(&it) {
                    continue;
                }
                let (seat, step) = (it.call.participant.name.clone(), &it.step);
                let system = it.call.system.to_string();
                let mut turns = it.call.render();
                turns.truncate(said(&it));
                if let Some((text, earlier)) = before.get(&seat) {
                    assert_eq!(*text, system, "{}, {method}: {step}", pattern.name);
                    assert_eq!(turns[..earlier.len()], *earlier, "{}, {method}: {step}", pattern.name);
                }
                before.insert(seat, (system, turns));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_vote_in_a_speech_is_quoted_alike_in_the_talk_and_in_the_ballot() {
    let speech = "They adapt.\nI choose tabs.\nNobody has to choose twice.";
    let asked = asked_of(
        panel().says("ann", speech),
        Spec { rounds: 2, ..with_options(order("round-robin", "tabs or spaces?"), "majority") },
    )
    .await;
    let shown = |it: &AskedCall| {
        let ann = it.call.labels.label("ann").unwrap();
        let fence = format!("by=\"{ann}\" round=\"1\">\n");
        let said = it.call.render().into_iter().map(|it| it.1).find(|it| it.contains(&fence))?;
        let (_, text) = said.split_once(&fence)?;
        text.rsplit_once('\n').map(|it| it.0.to_owned())
    };
    let bob = asked.iter().filter(|it| it.call.participant.name == "bob");
    let texts: Vec<(Option<&str>, String)> = bob.filter_map(|it| Some((kind(it), shown(it)?))).collect();
    let quoted = "They adapt.\n> I choose tabs.\nNobody has to choose twice.".to_owned();
    assert_eq!(texts.last().map(|it| it.0), Some(Some("ballot")));
    assert!(1 < texts.len() && texts.iter().all(|it| it.1 == quoted), "{texts:?}");
    // Where nobody votes, nothing looks like a vote.
    let unvoted = asked_of(panel().says("ann", speech), order("round-robin", "tabs or spaces?")).await;
    let bob = unvoted.iter().filter(|it| it.call.participant.name == "bob" && kind(it).is_none());
    let texts: Vec<String> = bob.filter_map(shown).collect();
    assert!(!texts.is_empty() && texts.iter().all(|it| it == speech), "{texts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_judges_system_text_repeats_up_to_what_is_drawn_for_each_judgement() {
    let asked = asked_in(Spec { rounds: 3, ..order("debate", "tabs or spaces?") }).await;
    let judging: Vec<&AskedCall> =
        asked.iter().filter(|it| matches!(kind(it), Some("assessment" | "verdict"))).collect();
    assert_eq!(judging.len(), 4);
    let stable = |it: &AskedCall| {
        let (stable, drawn) = it.call.system.split_once("# The debaters and their positions").unwrap();
        assert!(!stable.contains('@') && drawn.contains('@'), "{}", it.call.system);
        stable.to_owned()
    };
    assert!(judging.iter().all(|it| stable(it) == stable(judging[0])), "{}", judging[0].call.system);
    for criterion in ["logic", "evidence", "engagement", "novelty", "clarity", "relevance"] {
        let line = format!("- `{criterion}` (");
        let line = judging[0].call.system.lines().find(|it| it.starts_with(&line)).unwrap().to_owned();
        let anchors = ["). 2: ", ". 5: ", ". 8: "].map(|it| line.find(it));
        assert!(anchors.iter().all(Option::is_some) && anchors.is_sorted(), "{line}");
    }
}

/// The seats and rounds of a discussion, and the most tokens that our instructions may take in all
/// its requests together: system texts and tasks, without schemas.
const BUDGETS: [(&str, &str, usize, u32, u64); 8] = [
    ("synthesis", "synthesis", 4, 2, 2_574),
    ("round-robin", "synthesis", 4, 2, 2_517),
    ("critique", "synthesis", 4, 2, 3_120),
    ("voting", "voting", 3, 2, 2_360),
    ("dialogue", "synthesis", 2, 2, 3_115),
    ("debate", "synthesis", 3, 3, 5_514),
    ("roundtable", "synthesis", 3, 3, 2_849),
    ("synthesis", "moderator", 3, 1, 1_103),
];

#[tokio::test(start_paused = true)]
async fn the_instructions_of_a_discussion_keep_to_their_budget() {
    for (pattern, method, seats, rounds, most) in BUDGETS {
        let mut order = deciding_by(Spec { rounds, ..order(pattern, "tabs or spaces?") }, method);
        let dan = Participant { name: "dan".to_owned(), ..Participant::of("scripted") };
        order.participants.extend((order.participants.len() < seats).then_some(dan));
        let tokens = |asked: &AskedCall| {
            let asks = asked.call.messages.iter().filter_map(|it| match it {
                Message::Ask(text) => Some(Family::O200k.estimate(text)),
                Message::Said { .. } | Message::Found { .. } => None,
            });
            Family::O200k.estimate(&asked.call.system) + asks.sum::<u64>()
        };
        let used: u64 = asked_in(order).await.iter().map(tokens).sum();
        assert!(used <= most, "{pattern}, {method}: {used} tokens, not {most}");
    }
}

/// The keys of an object in a schema, in order.
fn keys(schema: &Value, pointer: &str) -> Vec<String> {
    schema.pointer(pointer).and_then(Value::as_object).unwrap().keys().cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn every_form_asks_for_reasons_before_choices_and_marks() {
    let expected: [(&str, &[&str]); 4] = [
        ("ballot", &["reasoning", "choice", "confidence"]),
        ("casting", &["reasoning", "positions"]),
        (
            "assessment",
            &["assessments", "reasoning", "flags", "qualityScore", "recommendations", "shouldContinue"],
        ),
        (
            "verdict",
            &[
                "summary",
                "keyPoints",
                "areasOfAgreement",
                "areasOfDisagreement",
                "insights",
                "qualityScore",
                "winner",
            ],
        ),
    ];
    let asked =
        [asked_in(order("debate", "tabs or spaces?")).await, asked_in(order("voting", "tabs?")).await]
            .concat();
    for (form, order) in expected {
        let it = asked.iter().find(|it| kind(it) == Some(form)).unwrap();
        let schema = it.call.shape.clone().unwrap().schema.unwrap();
        assert_eq!(keys(&schema, "/properties"), order, "{form}");
        assert_eq!(schema["required"], json!(order), "{form}");
        let task = task(it);
        let places: Vec<Option<usize>> = order.iter().map(|key| task.find(&format!("- `{key}`:"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{form}: {places:?}\n{task}");
    }
    let casting = asked.iter().find(|it| kind(it) == Some("casting")).unwrap();
    let schema = casting.call.shape.clone().unwrap().schema.unwrap();
    let entry = "/properties/positions/items/properties";
    assert_eq!(keys(&schema, entry), ["participant", "position", "persona", "keyArguments"]);
}

#[tokio::test(start_paused = true)]
async fn a_ballot_is_read_alike_in_any_order() {
    let mut results = Vec::new();
    for ballot in [
        r#"{"reasoning": "They adapt.", "choice": "tabs", "confidence": 0.9}"#,
        r#"{"confidence": 0.9, "choice": "tabs", "reasoning": "They adapt."}"#,
    ] {
        let table = table(&panel().writes("*", "ballot", ballot));
        let order = Spec { rounds: 1, ..deciding_by(spec("voting"), "voting") };
        results.push(table.hold(order).await.0.fields["votingResults"].clone());
    }
    assert_eq!(results[0], results[1]);
}

/// The text of an object with its keys in another order, at every level.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect()
        }
        Value::Array(entries) => entries.iter().map(reversed).collect(),
        plain => plain.clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_judgement_is_read_alike_in_any_order_and_with_a_score() {
    let rated = |who: &str, mark: u32| {
        let criteria = json!({ "logic": mark, "evidence": 5, "engagement": 5, "novelty": 5, "clarity": 5, "relevance": 5 });
        json!({ "participant": who, "strengths": ["the width"], "weaknesses": ["no figures"], "criteria": criteria })
    };
    let flags = json!({ "repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false });
    let assessment = json!({
        "assessments": [rated("<ann>", 7), rated("<bob>", 4)], "reasoning": "The width was settled.", "flags": flags,
        "qualityScore": 6, "recommendations": "Who pays?", "shouldContinue": true,
    });
    let mut scored = assessment.clone();
    scored["assessments"][0]["score"] = json!(1);
    let verdict = json!({
        "summary": "A short debate.", "keyPoints": [{ "participant": "<ann>", "mainArguments": ["the width"] }],
        "areasOfAgreement": ["width"], "areasOfDisagreement": ["price"], "insights": [], "qualityScore": 66,
        "winner": { "reasoning": "the width", "participant": "<ann>" },
    });
    let mut results = Vec::new();
    for (assessment, verdict) in [
        (assessment.clone(), verdict.clone()),
        (reversed(&assessment), reversed(&verdict)),
        (scored, verdict.clone()),
    ] {
        let judged = panel().writes("cyd", "assessment", &assessment.to_string());
        let table = table(&judged.writes("cyd", "verdict", &verdict.to_string()));
        let (outcome, _) = table.hold(Spec { rounds: 1, ..order("debate", "tabs or spaces?") }).await;
        let asked = table.panel.asked().into_iter().filter(|it| kind(it) == Some("assessment")).count();
        assert_eq!(asked, 1, "it was read at once");
        results.push([outcome.fields["judging"].clone(), outcome.fields["verdict"].clone()]);
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}
