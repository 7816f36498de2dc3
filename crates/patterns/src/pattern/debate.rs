//! Debate: two sides before a judge, in one of four formats, with an assessment of each round and a
//! verdict at the end (requirement D).

use std::sync::Arc;

use quorum_core::{
    floor::{Floor, halt::Halt, notes::Note},
    model::{
        error::{Code, Refusal},
        outcome::Decision,
        participant::{Participant, Role},
        phase::{Phase, PhaseTable},
        spec::Spec,
        transcript::Turn,
    },
    registry::{Defaults, Pattern},
    vocabulary::{
        result::ResultField,
        view::{Cell, Column, Section, View},
    },
};
use serde_json::json;

use crate::{
    debate::{
        DebateSpec, EMBEDDINGS, Judging, JudgingReport, MOST_DEBATERS, OPTIONS, Part, assessment_reader,
        bench::{Bench, RULING},
        casting,
        concession::{self, CONCESSION, Concession, conceded_to},
        course::DebateCourse,
        formats::{self, CONCEDED, ENDS, JUDGE_LOST, SIDE_EMPTY},
        judging::{self, DETECTION},
        remarks, seating, sides, verdict_reader, verdict_report, writer,
    },
    prompts::{debating, listed},
    roles::{self, JUDGE, OPPONENT, PROPONENT},
    starters,
};

const AWAITING_RESPONSES: Phase = Phase("awaiting-responses");
const JUDGING: Phase = Phase("judging");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "debate",
    summary: "Opposing sides before a judge",
    suits: "A decision for or against something, where the best case of each side should be heard",
    sketch: &["12", "1", "2", "3", "1", "2", "3", "*"],
    flow: 5,
    defaults: Defaults { rounds: 3, ..Defaults::PLAIN },
    options: OPTIONS,
    roles: roles::OF_A_DEBATE,
    forms: &[&assessment_reader::FORM, &verdict_reader::FORM, &casting::FORM],
    ends: ENDS,
    rulings: &[RULING],
    starters: &[starters::DEBATE],
    results: RESULTS,
    phases: PhaseTable {
        first: &[casting::PHASE, AWAITING_RESPONSES],
        next: &[
            (casting::PHASE, &[AWAITING_RESPONSES]),
            (AWAITING_RESPONSES, &[AWAITING_RESPONSES, JUDGING]),
            (JUDGING, &[AWAITING_RESPONSES, JUDGING]),
        ],
    },
    seat: seating::seat,
    check,
    refuses_rounds: formats::refuses_rounds,
    in_turn: formats::in_turn,
    remarks,
    lacks: judging::lacks,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

/// The fields that a debate adds to the result.
const RESULTS: &[ResultField] = &[
    ResultField {
        name: "verdict",
        title: "Verdict",
        view: verdict_reader::VIEW,
        of: |state| verdict_report::verdict(state).map(|it| json!(it)),
    },
    ResultField {
        name: "writerRemark",
        title: "On the answer",
        view: View::Text,
        of: |state| writer::remark(state).map(|it| json!(it)),
    },
    ResultField {
        name: "concessions",
        title: "Concessions",
        view: View::Table {
            columns: &[
                Column::of("round", "/round", Cell::Number),
                Column::text("debater", "/participant"),
                Column::text("conceded to", "/argument"),
            ],
        },
        of: |state| Some(concession::concessions(state)).filter(|it| !it.is_empty()).map(|it| json!(it)),
    },
    ResultField {
        name: "judgingRemarks",
        title: "On the judging",
        view: View::List,
        of: |state| Some(remarks::remarks(state)).filter(|it| !it.is_empty()).map(|it| json!(it)),
    },
    ResultField {
        name: "judging",
        title: "Judging",
        view: JUDGING_VIEW,
        of: |state| JudgingReport::of(state).map(|it| json!(it)),
    },
    ResultField {
        name: "positions",
        title: "Positions",
        view: View::Sections { sections: &[Section::new("", "/parts", &casting::VIEW)] },
        of: |state| judging::cast(state).map(|it| json!(it)),
    },
    ResultField {
        name: "detections",
        title: "Detections",
        view: View::Table {
            columns: &[
                Column::of("round", "/round", Cell::Number),
                Column::text("detector", "/detector"),
                Column::text("participant", "/participant"),
                Column::text("measure", "/measure"),
                Column::of("value", "/value", Cell::Number),
            ],
        },
        of: |state| Some(judging::detections(state)).filter(|it| !it.is_empty()).map(|it| json!(it)),
    },
];

const JUDGING_VIEW: View = View::Sections {
    sections: &[
        Section::new(
            "",
            "/rounds",
            &View::Scores {
                entries: "/assessments",
                participant: "/participant",
                score: "/score",
                by: Some("/judge"),
                whole: Some("/qualityScore"),
                best: 10.0,
            },
        ),
        Section::new(
            "",
            "/unassessedRounds",
            &View::Line { label: "Rounds that were not judged", cell: Cell::Number },
        ),
        Section::new(
            "",
            "/flippedRounds",
            &View::Line { label: "Rounds whose marks changed with the order", cell: Cell::Number },
        ),
        Section::new(
            "",
            "/flipRate",
            &View::Line { label: "Judgements that changed with the order", cell: Cell::Share },
        ),
        Section::new(
            "Marks by judge",
            "/panel",
            &View::Table {
                columns: &[
                    Column::of("round", "/round", Cell::Number),
                    Column::text("debater", "/participant"),
                    Column::text("marks", "/marks"),
                    Column::of("median", "/median", Cell::Number),
                    Column::of("spread", "/spread", Cell::Number),
                ],
            },
        ),
        Section::new(
            "Judges",
            "/judgeChanges",
            &View::Table {
                columns: &[
                    Column::of("round", "/round", Cell::Number),
                    Column::text("from", "/from"),
                    Column::text("to", "/to"),
                    Column::text("rule", "/rule"),
                    Column::text("why", "/why"),
                ],
            },
        ),
    ],
};

fn check(spec: &Spec) -> Vec<Refusal> {
    let refuse = |message| Refusal::new("roles", Code::InvalidRoles, message);
    let needed = [PROPONENT, OPPONENT, JUDGE];
    let missing: Vec<&str> =
        needed.iter().filter(|role| spec.playing(role).is_empty()).map(Role::name).collect();
    let debaters = roles::debaters(spec).len();
    let mut refusals = Vec::new();
    if !missing.is_empty() {
        let missing = listed(&missing);
        refusals
            .push(refuse(format!("a debate needs a proponent, an opponent and a judge; missing: {missing}")));
    }
    if MOST_DEBATERS < debaters {
        refusals.push(refuse(format!("a debate has at most {MOST_DEBATERS} debaters, not {debaters}")));
    }
    refusals.extend(formats::check(spec));
    refusals
}

/// A temperature that debaters don't speak at (D11).
fn remarks(spec: &Spec) -> Vec<Refusal> {
    let (given, used) = (spec.manner.temperature, debating::temperature(spec));
    let told = (given != used).then(|| {
        let message = format!("debaters speak at 0.7 to 0.9, so {given} becomes {used}");
        Refusal::new("temperature", Code::InvalidRequest, message)
    });
    told.into_iter().collect()
}

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    let parts = casting::cast(floor).await?;
    let mut bench = Bench::of(&spec, parts.clone());
    let Err(halt) = run_rounds(floor, &parts, &mut bench).await else { return Ok(None) };
    // After a stop, or with too few participants, there is still a verdict on what was said (D13).
    floor.last_word(halt)?;
    if !floor.transcript().is_empty() {
        floor.enter(JUDGING, floor.round()).await?;
        bench.last_word(floor).await?;
    }
    Ok(None)
}

/// Runs the rounds and the verdict.
async fn run_rounds(floor: &mut Floor, parts: &[Part], bench: &mut Bench) -> Result<(), Halt> {
    let spec = floor.spec();
    let mut course = DebateCourse::default();
    for round in 1..=formats::limit(&spec) {
        // One side alone is no debate; the judge decides on what was said (D13).
        if sides::is_side_empty(floor) {
            floor.end(SIDE_EMPTY, round - 1, None)?;
            break;
        }
        floor.enter(AWAITING_RESPONSES, round).await?;
        speak(floor, parts, round, &mut course).await?;
        if DebateSpec::of(&spec).judging == Judging::EveryRound {
            floor.enter(JUDGING, round).await?;
            judge(floor, bench, &mut course).await?;
        }
        if let Some((why, detail)) = end(floor, bench, &course, round) {
            floor.end(why, round, detail)?;
            break;
        }
    }
    if !floor.transcript().is_empty() {
        floor.enter(JUDGING, floor.round()).await?;
        bench.verdict(floor).await?;
    }
    Ok(())
}

/// Everyone that has not conceded speaks, in turn or in parallel; then concessions and repetitions
/// are looked for.
async fn speak(floor: &mut Floor, parts: &[Part], round: u32, course: &mut DebateCourse) -> Result<(), Halt> {
    let spec = floor.spec();
    let before = floor.transcript().len();
    let hints = course.assessment(round - 1).map(|it| it.recommendations.clone()).unwrap_or_default();
    let has_conceded = |who: &Participant| course.conceded().iter().any(|it| it.participant == who.name);
    let mut speakers = formats::in_turn(&spec, round);
    speakers.retain(|it| !has_conceded(it));
    if formats::at_once(&spec, round) {
        floor.ask_all(&speakers, |who| debating::speech(&spec, parts, who, round, &hints)).await?;
    } else {
        for speaker in &speakers {
            floor.ask(speaker, debating::speech(&spec, parts, speaker, round, &hints)).await?;
        }
    }
    let is_judged = |name: &str| spec.seat(name).is_some_and(roles::is_judged);
    let speeches = floor.transcript()[before..].iter().filter(|it| is_judged(&it.participant));
    let speeches: Vec<Arc<Turn>> = speeches.cloned().collect();
    for turn in &speeches {
        course.add_speech(turn);
        record_concession(floor, course, turn)?;
    }
    if let Some(model) = floor.option(&EMBEDDINGS)
        && let Some(found) = floor.compare(&model, &course.to_compare(round)).await?
    {
        course.add_similarities(round, &found);
    }
    record_detections(floor, course)
}

/// Records that a debater gives its position up, where it may.
fn record_concession(floor: &mut Floor, course: &mut DebateCourse, turn: &Turn) -> Result<(), Halt> {
    let spec = floor.spec();
    let may = formats::may_concede(&spec) && spec.seat(&turn.participant).is_some_and(roles::is_debater);
    let Some(argument) = conceded_to(&turn.text).filter(|_| may) else { return Ok(()) };
    let concession = Concession { participant: turn.participant.clone(), round: turn.round, argument };
    let to = if concession.argument.is_empty() { "" } else { ": " };
    let told = Some(format!("{} conceded{to}{}", concession.participant, concession.argument));
    let (key, round) = (turn.participant.as_str(), turn.round);
    floor.note(Note { kind: CONCESSION, key, round, value: &concession, told })?;
    course.add_concession(concession);
    Ok(())
}

/// The judge assesses the round. If that fails, nobody has to speak again.
async fn judge(floor: &mut Floor, bench: &mut Bench, course: &mut DebateCourse) -> Result<(), Halt> {
    if let Some(assessment) = bench.assess(floor, course).await? {
        course.add_assessment(floor.round(), assessment);
        record_detections(floor, course)?;
    }
    Ok(())
}

/// Records what the detectors find, once for each round and finding.
fn record_detections(floor: &mut Floor, course: &DebateCourse) -> Result<(), Halt> {
    for found in course.detections(floor.registry().detectors()) {
        let of = found.participant.as_deref().unwrap_or("*");
        let key = format!("{of} {} {}", found.detector, found.measure);
        let what = found.detector.replace('-', " ");
        let told = match &found.participant {
            Some(name) => format!("signs of {what} in round {}: {name}", found.round),
            None => format!("signs of {what} in round {}", found.round),
        };
        let (round, told) = (found.round, Some(told));
        floor.note(Note { kind: DETECTION, key: &key, round, value: &found, told })?;
    }
    Ok(())
}

/// Why the debate ends after this round, unless its rounds are over.
fn end(
    floor: &Floor,
    bench: &Bench,
    course: &DebateCourse,
    round: u32,
) -> Option<(&'static str, Option<String>)> {
    if let Some(names) = sides::conceded_side(floor, course.conceded()) {
        return Some((CONCEDED, Some(listed(&names))));
    }
    if bench.ends_it() {
        return Some((JUDGE_LOST, None));
    }
    formats::end(&floor.spec(), course, floor.registry().detectors(), round)
}

#[cfg(test)]
mod tests {
    use quorum_core::model::participant::Participant;

    use super::*;
    use crate::roles::{MODERATOR, NEUTRAL};

    #[track_caller]
    fn refuses(roles: &[Role], expected: &[&str]) {
        let seats = roles
            .iter()
            .enumerate()
            .map(|(seat, role)| Participant::of(&format!("p{seat}")).playing(role.clone()));
        let spec = Spec { participants: seats.collect(), ..quorum_testkit::spec::spec("debate") };
        let refusals = check(&spec);
        let messages: Vec<&str> = refusals.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expected, "{roles:?}");
        assert!(refusals.iter().all(|it| it.code == Code::InvalidRoles && it.field == "roles"));
    }

    #[test]
    fn inv_disc_008_a_debate_says_which_roles_are_missing() {
        refuses(&[PROPONENT, OPPONENT, JUDGE], &[]);
        let needs = "a debate needs a proponent, an opponent and a judge; missing:";
        refuses(&[PROPONENT, OPPONENT], &[&format!("{needs} judge")]);
        refuses(&[Role::SPEAKER, Role::SPEAKER], &[&format!("{needs} proponent, opponent and judge")]);
        refuses(&[PROPONENT, NEUTRAL, JUDGE], &[&format!("{needs} opponent")]);
    }

    #[test]
    fn inv_disc_008_any_number_of_judges_and_at_most_four_debaters() {
        // Until several judges could sit together, two were refused.
        refuses(&[PROPONENT, OPPONENT, JUDGE, JUDGE], &[]);
        refuses(&[PROPONENT, PROPONENT, OPPONENT, OPPONENT, JUDGE], &[]);
        refuses(&[PROPONENT, OPPONENT, NEUTRAL, MODERATOR, JUDGE], &[]);
        let five = [PROPONENT, PROPONENT, PROPONENT, OPPONENT, OPPONENT, JUDGE];
        refuses(&five, &["a debate has at most 4 debaters, not 5"]);
    }
}
