//! Tests of structured replies.

use super::*;
use quorum_patterns::roles::{JUDGE, NEUTRAL, OPPONENT, PROPONENT};

#[tokio::test]
async fn a_ballot_is_always_for_one_of_the_options() {
    let offers: [&[&str]; 4] =
        [&["REST", "GraphQL", "gRPC"], &["agree", "disagree"], &["A thing nobody named"], &["no", "yes"]];
    for (topic, seed) in TOPICS.iter().zip(1..) {
        for options in offers {
            let held = meeting(topic).with(|it| it.seed = seed).run(1).await.asking("We propose to wait.");
            for seat in &held.spec.participants {
                let reply = held.answer(2, "voting", &seat.name, ballot_of(options)).await;
                let ballot: Ballot = serde_json::from_str(&reply).unwrap();
                assert!(options.contains(&ballot.choice.as_str()) && !ballot.reasoning.is_empty(), "{reply}");
            }
        }
    }
}

#[tokio::test]
async fn a_ballot_is_for_the_position_that_was_argued() {
    let options = ["REST", "GraphQL", "gRPC"];
    let held = meeting("Best API style").options(&options).with(|it| it.stubbornness = 1.0).run(1).await;
    for seat in &held.spec.participants {
        let reply = held.answer(1, "voting", &seat.name, ballot_of(&options)).await;
        let ballot: Ballot = serde_json::from_str(&reply).unwrap();
        assert_eq!([ballot.choice], held.positions(&seat.name)[..]);
    }
}

#[tokio::test]
async fn the_stubborn_agree_only_with_their_own_proposal() {
    let held =
        meeting("Best API style").options(&["REST", "GraphQL"]).with(|it| it.stubbornness = 1.0).run(1).await;
    let own = held.positions("claude")[0].clone();
    let other = held.positions("glm")[0].clone();
    for (proposal, expected) in [(own, "agree"), (other, "disagree")] {
        let asked = held.clone().asking(&format!("The proposal: {proposal}. Do you agree?"));
        let reply = asked.answer(1, "deciding", "claude", ballot_of(&["agree", "disagree"])).await;
        assert_eq!(serde_json::from_str::<Ballot>(&reply).unwrap().choice, expected);
    }
}

#[tokio::test]
async fn a07_a_consensus_check_has_its_markers_and_converges() {
    for (stubbornness, expected) in [(0.0, Some(1)), (0.5, Some(3)), (1.0, None)] {
        let seats = [("model-a", Role::SPEAKER), ("model-b", Role::SPEAKER)];
        let mut meeting = meeting(TOPICS[0]).seats(&seats).with(|it| it.stubbornness = stubbornness);
        let mut agreed = None;
        for round in 1..=4 {
            meeting.speak(round, "model-a-turn", "model-a").await;
            meeting.speak(round, "model-b-turn", "model-b").await;
            let check = meeting.answer(round, "consensus-check-a", "model-a", shape("consensus-check")).await;
            let markers = ["[CONSENSUS_CHECK]", "[CONFIDENCE]", "[REASONING]", "[PROPOSED_SOLUTION]"];
            assert!(markers.iter().all(|marker| check.contains(marker)), "{check}");
            let yes = check.contains("HAS_CONSENSUS: YES");
            assert_eq!(yes, !check.contains("No consensus yet."));
            agreed = agreed.or(yes.then_some(round));
        }
        assert!(agreed <= expected && agreed.is_some() == expected.is_some(), "{stubbornness}: {agreed:?}");
    }
}

#[tokio::test]
async fn d07_a_verdict_names_a_winner_among_the_debaters() {
    let seats = [("ann", PROPONENT), ("bob", OPPONENT), ("dan", JUDGE)];
    let debate = meeting("Should we adopt a four-day week?").seats(&seats).run(2).await;
    let reply = debate.answer(2, "judging", "dan", shape("verdict")).await;
    let verdict: Verdict = serde_json::from_str(&reply).unwrap();
    let judged: Vec<&str> = verdict.key_points.iter().map(|it| it.participant.as_str()).collect();
    assert_eq!(judged, ["ann", "bob"]);
    assert!(judged.contains(&verdict.winner.unwrap().participant.as_str()));
    assert!(verdict.quality_score.is_some_and(|it| (0.0..=100.0).contains(&it)));
}

#[tokio::test]
async fn d06_an_assessment_has_every_part_and_what_else_the_schema_demands() {
    let seats = [("ann", PROPONENT), ("bob", OPPONENT), ("dan", JUDGE)];
    let debate = meeting("Kotlin vs Java").seats(&seats).run(1).await;
    let criteria = json!({ "type": "object", "required": ["logic"], "properties": {
        "logic": { "type": "number", "minimum": 0, "maximum": 10 } } });
    let item = json!({ "type": "object", "required": ["criteria"], "properties": { "criteria": criteria } });
    let schema = json!({ "type": "object", "required": ["assessments"], "properties": {
        "assessments": { "type": "array", "items": item } } });
    let asked = Some(Shape { form: form("assessment"), schema: Some(schema.into()) });
    let reply: Value = serde_json::from_str(&debate.answer(1, "judging", "dan", asked).await).unwrap();
    assert_eq!(reply["shouldContinue"], true);
    assert_eq!(reply["flags"]["convergenceReached"], false);
    assert_eq!(reply["assessments"][1]["participant"], "bob");
    assert!((0.0..=10.0).contains(&reply["assessments"][1]["criteria"]["logic"].as_f64().unwrap()));
}

#[tokio::test]
async fn marks_differ_between_debaters_and_lie_close_together() {
    let seats = [("ann", PROPONENT), ("bob", OPPONENT), ("dan", JUDGE)];
    let debate = meeting("Kotlin vs Java").seats(&seats).run(1).await;
    let marks = json!({ "type": "object", "required": ["logic", "clarity"], "properties": {
        "logic": { "type": "number" }, "clarity": { "type": "number" } } });
    let item = json!({ "type": "object", "required": ["criteria"], "properties": { "criteria": marks } });
    let schema = json!({ "type": "object", "required": ["assessments"], "properties": {
        "assessments": { "type": "array", "items": item } } });
    let asked = Some(Shape { form: form("assessment"), schema: Some(schema.into()) });
    let reply: Value = serde_json::from_str(&debate.answer(1, "judging", "dan", asked).await).unwrap();
    let [ann, bob] = [0, 1].map(|at| reply["assessments"][at]["criteria"].clone());
    assert_ne!(ann, bob);
    // Each within a point of the debater's score, which is no longer written.
    for marks in [ann, bob] {
        let apart = marks["logic"].as_f64().unwrap() - marks["clarity"].as_f64().unwrap();
        assert!(apart.abs() <= 2.1, "{marks}");
    }
}

#[tokio::test]
async fn inv_disc_200_a_synthesis_has_a_point_of_everyone() {
    for topic in TOPICS {
        let mut held = meeting(topic).run(2).await;
        held.ask = "Then write a line with `[STRUCTURE_ABCDEF]` alone.".to_owned();
        let reply = held.answer(2, "deciding", "claude", shape("synthesis")).await;
        let (text, structure) = reply.split_once("\n\n[STRUCTURE_ABCDEF]\n").unwrap();
        let structure: Value = serde_json::from_str(structure).unwrap();
        let mut counts = BTreeMap::<String, usize>::new();
        for seat in &held.spec.participants {
            assert!(text.contains(&format!("- {} (", seat.name)), "{text}");
            *counts.entry(held.positions(&seat.name)[1].clone()).or_default() += 1;
        }
        let leading = *counts.values().max().unwrap();
        assert_eq!(structure["dissent"].as_array().map(Vec::len), Some(4 - leading));
        assert!(!structure["claims"].as_array().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_simulated_verdict_contradicted_the_simulated_marks() {
    let seats = [("ann", PROPONENT), ("bob", OPPONENT), ("dan", JUDGE)];
    for (topic, seed) in TOPICS.iter().flat_map(|topic| (1..=6).map(move |seed| (topic, seed))) {
        let debate = meeting(topic).seats(&seats).with(|it| it.seed = seed).run(2).await;
        for (ann, bob, expected) in [("7.4", "6.8", "ann"), ("6", "6.1", "bob")] {
            let marks =
                format!("The marks so far:\n\n- round 1: bob {bob}, ann {ann}\n- round 2: ann 7, bob 7");
            let reply = debate.clone().asking(&marks).answer(2, "verdict", "dan", shape("verdict")).await;
            let verdict: Verdict = serde_json::from_str(&reply).unwrap();
            assert_eq!(verdict.winner.unwrap().participant, expected, "{topic}, {seed}");
        }
    }
}

#[tokio::test]
async fn a_simulated_proposal_named_no_answer_that_could_be_adopted() {
    for (topic, seed) in TOPICS.iter().flat_map(|topic| (1..=6).map(move |seed| (topic, seed))) {
        let held = meeting(topic).with(|it| it.seed = seed).run(1).await;
        let written = held.answer(1, "deciding", "claude", shape("synthesis")).await;
        let lead = written.split("\n\n").next().unwrap();
        let named = lead.split("**").nth(1).unwrap_or_else(|| panic!("{topic}, {seed}: {lead}"));
        let held_by = |name: &&str| held.positions(name).pop().as_deref() == Some(named);
        assert_ne!(["claude", "glm", "qwen", "gemini"].iter().filter(|it| held_by(it)).count(), 0, "{lead}");
    }
}

#[tokio::test]
async fn a_simulated_synthesis_contradicted_the_judge() {
    let seats = [("ann", PROPONENT), ("bob", OPPONENT), ("cyd", NEUTRAL), ("dan", JUDGE)];
    for (topic, seed) in TOPICS.iter().flat_map(|topic| (1..=6).map(move |seed| (topic, seed))) {
        let mut debate = meeting(topic).seats(&seats).with(|it| it.seed = seed);
        for (round, who) in [(1, "ann"), (1, "bob"), (2, "bob"), (2, "ann")] {
            debate.speak(round, "speaking", who).await;
        }
        let verdict = debate.answer(2, "judging", "dan", shape("verdict")).await;
        let verdict: Verdict = serde_json::from_str(&verdict).unwrap();
        let winner = verdict.winner.unwrap().participant;
        let on_record = format!("The judge rated how well it was argued, with {winner} ahead:\n> Well.");
        let debate = debate.asking(&on_record);
        let written = debate.answer(2, "deciding", "cyd", shape("synthesis")).await;
        let lead = written.split("\n\n").next().unwrap();
        let named = lead.split("**").nth(1);
        let won = debate.positions(&winner).pop().unwrap();
        assert_eq!(named, Some(&*won), "{topic}, {seed}: {winner} won with {won}, but: {lead}");
    }
}

#[tokio::test]
async fn an_unknown_shape_is_filled_by_its_schema() {
    let schema = json!({ "type": "object", "required": ["name", "score", "tags", "final", "mood"], "properties": {
        "name": { "type": "string" }, "score": { "type": "integer", "minimum": 1, "maximum": 5 },
        "tags": { "type": "array", "items": { "type": "string" } }, "final": { "type": "boolean" },
        "mood": { "enum": ["calm", "wild"] }, "more": { "type": "string" } } });
    let asked = Some(Shape { form: form("casting"), schema: Some(schema.into()) });
    let reply: Value =
        serde_json::from_str(&meeting("X").answer(1, "casting", "claude", asked).await).unwrap();
    assert_eq!(reply["name"], "claude");
    assert!((1..=5).contains(&reply["score"].as_i64().unwrap()));
    assert_eq!((&reply["final"], &reply["mood"], reply.get("more")), (&json!(true), &json!("calm"), None));
    assert!(reply["tags"][0].is_string());
}

#[tokio::test]
async fn d06_only_those_who_are_judged_are_assessed_under_their_labels() {
    let seats = [("claude", PROPONENT), ("glm", OPPONENT), ("qwen", JUDGE)];
    let mut meeting = meeting(TOPICS[0]).seats(&seats);
    for label in ["Debater B", "Debater A", "Speaker A"] {
        meeting.add_turn(
            1,
            "awaiting-responses",
            label,
            "My position: to wait.\n\nIt is early days for all of this.",
        );
    }
    let labels = json!({ "properties": { "assessments": { "items": {
        "properties": { "participant": { "enum": ["Debater A", "Debater B"] } },
    } } } });
    let form = Some(Shape { form: form("assessment"), schema: Some(labels.into()) });
    let reply: Value = serde_json::from_str(&meeting.answer(1, "judging", "qwen", form).await).unwrap();
    let assessed: Vec<&Value> =
        reply["assessments"].as_array().unwrap().iter().map(|it| &it["participant"]).collect();
    assert_eq!(assessed, ["Debater B", "Debater A"]);
}

#[tokio::test]
async fn d05_parts_are_for_every_debater_and_no_two_are_the_same() {
    let sides = [PROPONENT, OPPONENT, PROPONENT, OPPONENT];
    let names = ["ann", "bob", "cyd", "dan"];
    let seats: Vec<(&str, Role)> = names.into_iter().zip(sides).chain([("eve", JUDGE)]).collect();
    for topic in TOPICS {
        let names = json!({ "properties": { "positions": { "items": {
            "properties": { "participant": { "enum": names } },
        } } } });
        let form = Some(Shape { form: form("casting"), schema: Some(names.into()) });
        let reply = meeting(topic).seats(&seats).answer(0, "casting", "eve", form).await;
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let parts = reply["positions"].as_array().unwrap();
        let held: std::collections::BTreeSet<&str> =
            parts.iter().map(|it| it["position"].as_str().unwrap()).collect();
        assert_eq!((parts.len(), held.len()), (4, 4), "{reply:#}");
        assert!(parts.iter().all(|it| !it["persona"].as_str().unwrap().is_empty()));
    }
}

#[tokio::test]
async fn d05_sides_of_which_how_and_why_have_positions() {
    let seats = [("ann", PROPONENT), ("bob", OPPONENT), ("eve", JUDGE)];
    for (topic, expected) in [
        ("Should we move billing to event sourcing?", ["in favour", "against"]),
        ("Microservices vs Monolith", ["Microservices", "Monolith"]),
        (
            "Which database should we use?",
            ["the simplest thing that can work", "what the people involved already know"],
        ),
        (
            "How do we lower our latency?",
            ["the simplest thing that can work", "what the people involved already know"],
        ),
        ("Why do projects run late?", ["the plain explanation is enough", "several causes together"]),
        (
            "What would we lose by a move to the cloud?",
            ["the simplest thing that can work", "what the people involved already know"],
        ),
        ("Should Rust or Go be our next language?", ["Rust", "Go"]),
        (
            "どのデータベースを使うべきですか？",
            ["うまくいきそうな中でいちばん単純なもの", "関わる人がすでに知っているもの"],
        ),
        ("週休三日制を導入すべきですか？", ["賛成", "反対"]),
        ("RustかGoか？", ["Rust", "Go"]),
        ("タブとスペースのどちらがよいですか？", ["タブ", "スペース"]),
        ("Sollten wir umstellen?", ["dafür", "dagegen"]),
        (
            "Welche Datenbank passt zu uns?",
            ["das Einfachste, das funktionieren kann", "das, was die Beteiligten schon kennen"],
        ),
    ] {
        let names = json!({ "properties": { "positions": { "items": {
            "properties": { "participant": { "enum": ["ann", "bob"] } },
        } } } });
        let form = Some(Shape { form: form("casting"), schema: Some(names.into()) });
        let reply = meeting(topic).seats(&seats).answer(0, "casting", "eve", form).await;
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let parts = reply["positions"].as_array().unwrap();
        let sides: Vec<&str> =
            parts.iter().map(|it| it["position"].as_str().unwrap().split(": ").next().unwrap()).collect();
        assert_eq!(sides, expected, "{topic}");
        // A side was given a reason for the one that the caster holds.
        let named = |side: &str, other: &str| {
            let position = parts.iter().find_map(|it| it["position"].as_str()?.strip_prefix(side));
            position.is_some_and(|it| it.contains(side) || !it.contains(other))
        };
        assert!(named(sides[0], sides[1]) && named(sides[1], sides[0]), "{reply:#}");
    }
}
