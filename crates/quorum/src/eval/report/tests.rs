//! Reports of made-up answers.

use quorum_core::model::id::DiscussionId;

use super::*;
use crate::{
    Request,
    eval::{
        Answers, Evaluation, Protocol, Question, Way,
        grade::{Key, Mark},
        run::{Best, Cost, First, FirstAnswers, Flips, Row},
    },
};

/// An evaluation of three protocols on this many questions. `right` says whether a protocol is
/// right about a question, or `None` if it has not answered it.
fn made_up(count: usize, text: &str, right: impl Fn(usize, usize) -> Option<bool>) -> (Evaluation, Answers) {
    let question = |number: usize| Question {
        id: format!("q{number}"),
        line: number,
        text: format!("{text} {number}?"),
        context: None,
        options: ["one", "two", "three"].map(str::to_owned).to_vec(),
        key: Key::Choice(0),
    };
    let held =
        Way::Discussion { preset: None, pattern: Some("synthesis".into()), rounds: Some(2), method: None };
    let ways = [("single", Way::Single(None)), ("majority", Way::Baseline), ("synthesis:2", held)];
    let evaluation = Evaluation {
        questions: (0..count).map(question).collect(),
        protocols: ways
            .map(|(name, way)| Protocol { name: name.to_owned(), way, needs_options: false })
            .to_vec(),
        request: Request::default(),
        seed: 1,
        repeat: 1,
        independent: false,
        max_cost: None,
        grader: None,
        known_best: None,
        run: "0197f6a0-0000-7000-8000-000000000001".to_owned(),
        session: None,
    };
    let posed: Vec<_> = evaluation.questions.iter().map(|it| it.posed(1)).collect();
    let mut answers = Answers { posed, ..Answers::default() };
    answers.best = Some(Best { voice: "ann".into(), in_hindsight: true });
    let cost = |calls: f64| Cost { calls, tokens: 100.0 * calls, usd: Some(0.001 * calls), ms: 1_000.0 };
    for question in 0..count {
        let first = |voice: &str, place: usize| First {
            voice: voice.to_owned(),
            answer: "A".to_owned(),
            confidence: 0.8,
            mark: Mark::of(!(question + place).is_multiple_of(4)),
            cost: cost(1.0),
        };
        let voices = ["ann", "bob", "cyd"].iter().enumerate().map(|(place, it)| first(it, place)).collect();
        let discussion = DiscussionId::fresh();
        answers.firsts.push(FirstAnswers { question, repeat: 0, discussion, answers: voices });
        for (protocol, calls) in [1.0, 3.0, 8.0].into_iter().enumerate() {
            let Some(right) = right(question, protocol) else { continue };
            answers.rows.push(Row {
                question,
                repeat: 0,
                protocol,
                discussion,
                answer: text.to_owned(),
                mark: Mark::of(right),
                is_tie: false,
                probability: Some(0.7),
                cost: cost(calls),
                flips: Flips::default(),
            });
        }
    }
    (evaluation, answers)
}

fn about() -> About {
    About {
        file: "<q>.jsonl".into(),
        panel: ["ann", "bob", "cyd"].map(str::to_owned).to_vec(),
        ..About::default()
    }
}

#[test]
fn e11_the_page_is_small_asks_for_nothing_and_needs_no_script() {
    let text = "Is <script>alert(1)</script> & <img src=http://evil.example/x> the answer".repeat(8);
    let (evaluation, answers) =
        made_up(1_000, &text, |question, protocol| Some(!(question + protocol).is_multiple_of(3)));
    let report = Report::of(&evaluation, &answers, &about());
    assert_eq!((report.differing.len(), report.differing_unlisted), (40, 960));
    let page = html(&report, &|id| Some(format!("discussions/{id}.html")));
    assert!(page.len() <= LARGEST, "{} bytes", page.len());
    for active in ["<script", "<img", "src=\"", "href=\"http", "url(", "@import", "<link", "onload"] {
        assert!(!page.contains(active), "{active}");
    }
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    assert!(page.contains("<svg") && page.contains("Difference to majority"));
    assert!(page.contains("&lt;script&gt;") && page.contains("Evaluation of &lt;q&gt;.jsonl"));
}

#[test]
fn a_difference_is_told_where_it_can_be() {
    // The discussion is right where the plain vote is, and in every tenth question more.
    let right = |question: usize, protocol: usize| match protocol {
        0 => Some(question.is_multiple_of(2)),
        1 => Some(!question.is_multiple_of(5)),
        _ => Some(!question.is_multiple_of(10)),
    };
    let (evaluation, answers) = made_up(400, "Is it", right);
    let report = Report::of(&evaluation, &answers, &about());
    let told = text(&report);
    assert!(told.contains("synthesis:2 is better than majority by 10.0 points (+7."), "{told}");
    assert!(told.contains("single is worse than majority by 30.0 points"), "{told}");
    assert!(told.contains("single (ann, best in hindsight)"), "{told}");
    let found = &report.protocols[2];
    assert_eq!((found.accuracy, found.questions, found.missing), (0.9, 400, 0));
    assert!(report.cost_in_usd && found.usd.is_some_and(|it| (it - 0.008).abs() < 1e-9));
    // Blind protocols have 50 % at 1 and 80 % at 3 calls; more is not known to be better.
    assert_eq!(points(found.at_equal_cost.unwrap()), "+10.0");
}

#[test]
fn few_questions_tell_nothing_and_missing_answers_are_said() {
    let right = |question: usize, protocol: usize| match protocol {
        2 if question >= 6 => None,
        _ => Some(true),
    };
    let (evaluation, answers) = made_up(10, "Is it", right);
    let report = Report::of(&evaluation, &answers, &about());
    let told = text(&report);
    assert!(told.contains("6 of 10 questions are graded."), "{told}");
    assert!(told.contains("Incomplete: synthesis:2 (4 missing)"), "{told}");
    assert!(told.contains("synthesis:2 against majority: cannot tell (0.0,"), "{told}");
    let versus = report.protocols[2].versus.as_ref().unwrap();
    assert_eq!((versus.questions, versus.p, versus.conclusion), (6, 1.0, Conclusion::CannotTell));
    assert_eq!(report.protocols[2].ece, None);
}
