//! Tests of free speeches.

use super::*;
use quorum_patterns::roles::{JUDGE, NEUTRAL, OPPONENT, PROPONENT};

#[tokio::test]
async fn the_same_seed_holds_the_same_discussion_and_another_does_not() {
    let texts = |meeting: &Meeting| meeting.said.iter().map(|turn| turn.text.to_string()).collect::<Vec<_>>();
    for topic in TOPICS {
        let first = texts(&meeting(topic).run(2).await);
        assert_eq!(first, texts(&meeting(topic).run(2).await));
        assert_ne!(first, texts(&meeting(topic).with(|it| it.seed = 8).run(2).await));
    }
}

#[tokio::test]
async fn everyone_states_a_position_and_nobody_says_the_same_twice() {
    for topic in TOPICS {
        let meeting = meeting(topic).run(3).await;
        let texts: Vec<&str> = meeting.said.iter().map(|turn| &*turn.text).collect();
        assert!(
            texts
                .iter()
                .all(|text| position(text).is_some() && (2..=5).contains(&text.split("\n\n").count()))
        );
        assert!((1..texts.len()).all(|at| !texts[..at].contains(&texts[at])), "{topic}");
        assert!(texts.iter().all(|text| !text.contains(['{', '}'])), "{topic}");
        assert_ne!(meeting.positions("claude")[0], meeting.positions("glm")[0]);
    }
}

#[tokio::test]
async fn a_question_in_japanese_is_answered_in_japanese() {
    for topic in ["週休三日制を導入すべきですか？", "東京か大阪か", "なぜプロジェクトは遅れるのですか？"]
    {
        let held = meeting(topic).run(2).await;
        for turn in &held.said {
            assert!(turn.text.starts_with("私の立場："), "{}", turn.text);
            let english = turn.text.split(|it: char| !it.is_ascii_alphabetic()).filter(|it| 4 < it.len());
            let names = ["claude", "gemini"];
            assert_eq!(
                english.filter(|it| !names.contains(it)).collect::<Vec<_>>(),
                [""; 0],
                "{}",
                turn.text
            );
        }
    }
}

#[tokio::test]
async fn a_question_that_wants_one_word_gets_one() {
    let mut words = std::collections::BTreeSet::new();
    for number in 0..40 {
        let topic = format!("Case {number}: is it so? Reply with one word: yes or no.");
        let meeting = meeting(&topic).run(1).await;
        words.extend(meeting.said.iter().map(|turn| turn.text.to_string()));
    }
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["No", "Yes"]);
}

#[tokio::test]
async fn others_are_answered_by_name_with_their_own_words() {
    let mut meeting = meeting("Best API style").options(&["REST", "GraphQL"]);
    meeting.add_turn(1, "speaking", "gemini", "Nobody here has ever operated GraphQL in production.");
    let answer = meeting.speak(1, "speaking", "claude").await;
    assert!(
        answer.contains("gemini")
            && answer.contains("“Nobody here has ever operated GraphQL in production.”")
    );
}

#[tokio::test]
async fn a_confidence_is_stated_where_it_is_asked_for() {
    let asked = meeting("Microservices vs Monolith").asking("End with a line `Confidence: 0.NN`.");
    let answer = asked.answer(1, "answering", "glm", None).await;
    let stated = answer.lines().last().unwrap().strip_prefix("Confidence: ").unwrap();
    assert!((0.0..=1.0).contains(&stated.parse::<f64>().unwrap()));
    let plain = meeting("Microservices vs Monolith").answer(1, "answering", "glm", None).await;
    assert!(!plain.contains("Confidence:"));
}

/// Whether anyone changed its mind within three rounds, on any topic and with any of some seeds.
async fn minds_change(stubbornness: f64) -> bool {
    let mut changed = false;
    for (topic, seed) in TOPICS.iter().zip(1..) {
        let meeting =
            meeting(topic).with(|it| (it.seed, it.stubbornness) = (seed, stubbornness)).run(3).await;
        let names = meeting.spec.participants.iter().map(|it| meeting.positions(&it.name));
        changed |= names.into_iter().any(|positions| positions.windows(2).any(|pair| pair[0] != pair[1]));
    }
    changed
}

#[tokio::test]
async fn open_minds_change_and_stubborn_ones_never_do() {
    assert!(minds_change(0.0).await);
    assert!(minds_change(0.5).await);
    assert!(!minds_change(1.0).await);
}

#[tokio::test]
async fn a_voice_that_changes_its_mind_says_why() {
    let mut meeting =
        meeting("Best API style").options(&["REST", "GraphQL"]).with(|it| it.stubbornness = 0.0);
    meeting.add_turn(1, "speaking", "claude", "My position: REST.\n\nI have always used it everywhere.");
    for name in ["glm", "qwen", "gemini"] {
        let text = "My position: GraphQL.\n\nOur clients need very different parts of the data.";
        meeting.add_turn(1, "speaking", name, text);
    }
    let answer = meeting.speak(2, "speaking", "claude").await;
    assert_eq!(meeting.positions("claude"), ["REST", "GraphQL"]);
    assert!(answer.contains("REST") && answer.contains("glm"), "{answer}");
    assert!(answer.contains("“Our clients need very different parts of the data.”"), "{answer}");
}

#[tokio::test]
async fn debaters_keep_their_sides() {
    let seats = [("ann", PROPONENT), ("bob", OPPONENT), ("cyd", NEUTRAL), ("dan", JUDGE)];
    let debate = |topic| meeting(topic).seats(&seats).with(|it| it.stubbornness = 0.0);
    let plain = debate("Should we adopt a four-day week?").run(3).await;
    assert_eq!(plain.positions("ann"), ["in favour"; 3]);
    assert_eq!(plain.positions("bob"), ["against"; 3]);
    let named = debate("Kotlin vs Java").run(3).await;
    assert_eq!(named.positions("ann"), ["Kotlin"; 3]);
    assert_eq!(named.positions("bob"), ["Java"; 3]);
    assert_eq!(named.positions("cyd"), plain.positions("cyd"));
}

#[tokio::test]
async fn a_critique_numbers_its_points_objects_to_one_and_refines() {
    let mut meeting = meeting("How do we reduce on-call load?");
    let proposal = meeting.speak(1, "proposing", "claude").await;
    assert!(["1. ", "2. ", "3. "].iter().all(|number| proposal.contains(number)), "{proposal}");
    let objection = meeting.speak(1, "critiquing", "glm").await;
    assert!(objection.contains("claude, point "), "{objection}");
    let refined = meeting.speak(1, "refining", "claude").await;
    let (proposal, answers) = refined.split_once("\n---\n").unwrap();
    assert!(proposal.contains("1. ") && answers.contains("glm"), "{refined}");
}

#[tokio::test]
async fn odd_topics_cause_no_errors() {
    let long = "why ".repeat(1_200);
    for topic in ["", "?", "or", " vs ", "ä or ö vs ß?", "{position} or {name}?", "one\ntwo\nthree", &long]
    {
        let held = meeting(topic).run(2).await;
        assert!(held.said.iter().all(|turn| turn.text.len() > 100), "{topic}");
    }
}

#[tokio::test]
async fn text_before_a_sub_discussion_is_not_a_statement() {
    let mut meeting = meeting(TOPICS[0]);
    let plain = meeting.answer(1, "answering", "claude", None).await;
    meeting.add_turn(1, "answering", "claude", "Before I commit myself I would like one thing looked at.");
    assert_eq!(meeting.answer(1, "answering", "claude", None).await, plain);
}

#[tokio::test]
async fn c02_at_a_roundtable_a_speech_is_one_paragraph_and_answers_people_by_name() {
    let mut meeting = meeting("What shall we build?");
    meeting.spec.participants[1] = Participant::person("ann");
    meeting.stop = ["[", "\n\n", "Speaker:"].map(str::to_owned).to_vec();
    meeting.speak(1, "speaking", "claude").await;
    meeting.add_turn(1, "speaking", "ann", "A bridge, I should think.");
    for who in ["qwen", "gemini"] {
        let text = meeting.speak(1, "speaking", who).await;
        assert!(text.contains("ann") && text.contains("bridge"), "{text}");
        assert!(meeting.stop.iter().all(|it| !text.contains(it.as_str())), "{text}");
    }
}
