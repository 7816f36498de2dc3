//! The values that our patterns and methods write into the record. They are a disk format, so names
//! stay.

use std::fmt::Debug;

use quorum_core::{
    model::{
        event::Event,
        outcome::{Claim, Dissent},
        reading::Source,
    },
    registry::Detection,
};
use quorum_patterns::{
    debate::{
        Assessment, Cast, CastList, CastOrigin, Criteria, DebateSpec, Diversity, Flags, Format, JudgeChange,
        JudgeFailure, JudgeLoss, Judging, KeyPoints, Mode, Part, Rated, Verdict, Winner,
    },
    readers::{Ballot, CastBallot, Confidence, ConsensusVote, Synthesis, Tally},
    registry,
};
use quorum_testkit::{panel::panel, spec::spec};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::table;

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, written: Value) {
    assert_eq!(json!(value), written);
    assert_eq!(serde_json::from_value::<T>(written).unwrap(), *value);
}

#[test]
fn every_form_has_the_kind_and_the_version_on_disk() {
    let forms = registry().forms();
    let named: Vec<(&str, u32)> = forms.iter().map(|it| (it.kind, it.version)).collect();
    let expected = [
        "assessment",
        "verdict",
        "casting",
        "check",
        "ballot",
        "consensus-check",
        "short-answer",
        "synthesis",
    ]
    .map(|kind| (kind, 1));
    assert_eq!(named, expected);
}

fn ballot() -> Ballot {
    let confidence = Confidence::clamped(0.8);
    Ballot { choice: "tabs".into(), confidence, reasoning: "they adapt".into() }
}

#[test]
fn votes_are_written_like_this() {
    check(&ballot(), json!({ "choice": "tabs", "confidence": 0.8, "reasoning": "they adapt" }));
    let vote = ConsensusVote {
        agrees: true,
        confidence: 80,
        reasoning: "we agree".into(),
        solution: Some("tabs it is".into()),
    };
    let written =
        json!({ "agrees": true, "confidence": 80, "reasoning": "we agree", "solution": "tabs it is" });
    check(&vote, written);
    let cast = CastBallot { participant: "ann".into(), round: 1, source: Source::Stated, ballot: ballot() };
    let tally = Tally {
        winner: Some("tabs".into()),
        tie: Vec::new(),
        votes: [("tabs".to_owned(), 1)].into(),
        weighted: [("tabs".to_owned(), 0.8)].into(),
        unanimous: true,
        margin: 1.0,
        ballots: vec![cast],
    };
    let cast = json!({
        "participant": "ann", "round": 1, "source": "stated",
        "choice": "tabs", "confidence": 0.8, "reasoning": "they adapt",
    });
    let written = json!({
        "winner": "tabs", "votes": { "tabs": 1 }, "weighted": { "tabs": 0.8 },
        "unanimous": true, "margin": 1.0, "ballots": [cast],
    });
    check(&tally, written);
}

#[test]
fn a_synthesis_is_written_like_this() {
    let claim = Claim {
        text: "tabs adapt".into(),
        supported_by: vec!["ann".into()],
        attacked_by: vec!["bob".into()],
        unanswered: true,
    };
    let synthesis = Synthesis {
        synthesis: "tabs".into(),
        agreements: vec!["it matters".into()],
        dissent: vec![Dissent { participant: "bob".into(), position: "spaces".into() }],
        claims: vec![claim],
        ..Synthesis::default()
    };
    let claim = json!({
        "text": "tabs adapt", "supported_by": ["ann"], "attacked_by": ["bob"], "unanswered": true,
    });
    let written = json!({
        "synthesis": "tabs", "agreements": ["it matters"],
        "dissent": [{ "participant": "bob", "position": "spaces" }], "claims": [claim],
    });
    check(&synthesis, written);
}

#[test]
fn judgements_are_written_like_this() {
    let criteria = [("logic", 8.0), ("evidence", 6.0), ("Risk, honestly stated", 4.0)];
    let criteria = Criteria(criteria.map(|(name, mark)| (name.to_owned(), mark)).into());
    let rated = Rated {
        participant: "ann".into(),
        strengths: vec!["clear".into()],
        weaknesses: vec!["thin".into()],
        score: 7.0,
        criteria: Some(criteria),
    };
    let assessment = Assessment {
        should_continue: true,
        quality_score: Some(7.5),
        assessments: vec![rated],
        flags: Flags { repetitive: true, ..Flags::default() },
        reasoning: "a fair round".into(),
        recommendations: "go on".into(),
    };
    let criteria = json!({ "logic": 8.0, "evidence": 6.0, "Risk, honestly stated": 4.0 });
    let rated = json!({
        "participant": "ann", "strengths": ["clear"], "weaknesses": ["thin"], "score": 7.0,
        "criteria": criteria,
    });
    let flags = json!({
        "repetitive": true, "drifting": false, "diminishingReturns": false, "convergenceReached": false,
    });
    let written = json!({
        "shouldContinue": true, "qualityScore": 7.5, "assessments": [rated], "flags": flags,
        "reasoning": "a fair round", "recommendations": "go on",
    });
    check(&assessment, written);
    let verdict = Verdict {
        summary: "close".into(),
        key_points: vec![KeyPoints { participant: "ann".into(), main_arguments: vec!["width".into()] }],
        winner: Some(Winner { participant: "ann".into(), reasoning: "clearer".into() }),
        quality_score: Some(70.0),
        ..Verdict::default()
    };
    let written = json!({
        "summary": "close", "keyPoints": [{ "participant": "ann", "mainArguments": ["width"] }],
        "areasOfAgreement": [], "areasOfDisagreement": [], "qualityScore": 70.0, "insights": [],
        "winner": { "participant": "ann", "reasoning": "clearer" },
    });
    check(&verdict, written);
}

fn part() -> Part {
    Part {
        participant: "ann".into(),
        position: "tabs adapt".into(),
        persona: "a typesetter".into(),
        key_arguments: vec!["every reader has eyes".into()],
    }
}

fn written_part() -> Value {
    json!({
        "participant": "ann", "position": "tabs adapt", "persona": "a typesetter",
        "keyArguments": ["every reader has eyes"],
    })
}

#[test]
fn a_debates_notes_are_written_like_this() {
    let reasoning = Some("they differ".to_owned());
    let cast = Cast {
        parts: vec![part()],
        origin: CastOrigin::Assigned,
        by: Some("cyd".into()),
        reasoning: reasoning.clone(),
        spread: Some("binary".into()),
    };
    let parts = json!([written_part()]);
    let written = json!({
        "parts": &parts, "origin": "assigned", "by": "cyd", "reasoning": "they differ", "spread": "binary",
    });
    check(&cast, written);
    let read = CastList { parts: vec![part()], reasoning };
    check(&read, json!({ "parts": parts, "reasoning": "they differ" }));
    let change = JudgeChange {
        round: 2,
        from: "cyd".into(),
        to: Some("dan".into()),
        rule: JudgeFailure::GoWithout,
        why: JudgeLoss::Unread,
    };
    let written = json!({ "round": 2, "from": "cyd", "to": "dan", "rule": "go-without", "why": "unread" });
    check(&change, written);
    let found = Detection {
        round: 2,
        detector: "repetition".into(),
        measure: "lexical".into(),
        value: 0.91,
        participant: Some("ann".into()),
    };
    let written = json!({
        "round": 2, "detector": "repetition", "measure": "lexical", "value": 0.91, "participant": "ann",
    });
    check(&found, written);
}

#[test]
fn a_debates_options_are_written_like_this() {
    let order = DebateSpec {
        format: Format::ConvergenceSeeking,
        mode: Mode::Simultaneous,
        round_limit: Some(12),
        judging: Judging::VerdictOnly,
        judge_failure: JudgeFailure::Ask,
        swap_check: true,
        evaluation_criteria: vec!["Risk".into()],
        end_on: vec!["drift".into()],
        embeddings: Some("openai/small".into()),
        positions: vec![part()],
        casting: Some(Diversity::Spectrum),
        no_casting: true,
    };
    let written = json!({
        "debateFormat": "convergence-seeking", "mode": "simultaneous", "roundLimit": 12,
        "judging": "verdict-only", "judgeFailure": "ask", "swapCheck": true, "evaluationCriteria": ["Risk"], "endOn": ["drift"],
        "embeddings": "openai/small", "positions": [written_part()], "casting": "spectrum",
        "noCasting": true,
    });
    assert_eq!(json!(order.settings()), written);
    assert_eq!(json!(DebateSpec::default().settings()), json!({}), "what is usual is not written");
}

#[tokio::test(start_paused = true)]
async fn a_dialogues_check_is_written_like_this() {
    let (_, facts) = table(&panel()).hold(spec("dialogue")).await;
    let noted = facts.iter().rev().find_map(|fact| match &fact.event {
        Event::Noted(noted) => Some((fact.step.as_ref()?.to_string(), noted.clone())),
        _ => None,
    });
    let (step, noted) = noted.unwrap();
    let solution = |name: &str| format!("What {name} and the other worked out together.");
    let vote = |name: &str| {
        json!([name, {
            "agrees": true, "confidence": 80, "reasoning": format!("{name} thinks so"), "solution": solution(name),
        }])
    };
    let written = json!({
        "round": 2, "agreed": true, "votes": [vote("ann"), vote("bob")], "solution": solution("ann"),
    });
    assert_eq!(
        (step.as_str(), noted.kind.as_str(), noted.round),
        ("2/noted/*consensus-check", "consensus-check", 2)
    );
    assert_eq!((noted.value, noted.told.as_deref()), (written, Some("there is consensus")));
}
