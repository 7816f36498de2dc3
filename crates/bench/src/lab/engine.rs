//! The same worlds on the real engine: an evaluation in memory, with the voices of a world.

use std::sync::Arc;

use anyhow::{Context, Result};
use quorum::{
    Quorum, Request, Scope,
    eval::{
        Evaluation, Posed, Progress, Question, Report, Watch,
        grade::Key,
        protocols,
        report::About,
        run::{First, FirstAnswers},
    },
    model::id::Tenant,
    request::Simulate,
    voices::{
        WorldVoices,
        world::{NAMES, World},
    },
};

use quorum_patterns::evidence::{KnownAnswer, KnownQuestion};

/// The results of protocols on the engine.
pub(crate) struct Ran {
    pub(crate) majority: f64,
    pub(crate) voting: f64,
    pub(crate) settle: f64,
    pub(crate) settle_calls: f64,
    /// Protocols that are only shown, without a bar.
    pub(crate) shown: Vec<(String, f64)>,
}

/// The protocols that are compared with the closed form, and those that are only shown.
const COMPARED: &str = "majority,voting,settle";
const SHOWN: &str = "synthesis:2,debate:2";

/// A pattern for two voices, which is only shown.
const OF_TWO: &str = "dialogue";

/// The number of questions for protocols that are only shown.
const SHOWN_QUESTIONS: usize = 200;

/// Runs a world on the engine with this many questions.
pub(crate) async fn ran(world: &World, questions: usize) -> Result<Ran> {
    let (_, report) = evaluated(in_memory(world)?, world, questions, COMPARED).await?;
    let of = |name: &str| report.protocols.iter().find(|it| it.name == name).context("a protocol");
    let (majority, voting, settle) = (of("majority")?, of("voting")?, of("settle")?);
    let few = questions.min(SHOWN_QUESTIONS);
    let (_, rest) = evaluated(in_memory(world)?, world, few, SHOWN).await?;
    let two = Task { questions: few, list: OF_TWO, voices: 2 };
    let (_, of_two) = evaluated_by(in_memory(world)?, world, two).await?;
    let shown = rest.protocols.iter().chain(&of_two.protocols).filter(|it| it.versus.is_some());
    Ok(Ran {
        majority: majority.accuracy,
        voting: voting.accuracy,
        settle: settle.accuracy,
        settle_calls: settle.calls,
        shown: shown.map(|it| (it.name.clone(), it.accuracy)).collect(),
    })
}

/// The results of `settle` with learned weights.
pub(crate) struct Learned {
    /// The first answers that it learned from.
    pub(crate) known: Vec<KnownQuestion>,
    pub(crate) accuracy: f64,
    pub(crate) calls: f64,
}

/// Runs `settle` in a world after the outcomes of an earlier evaluation are recorded.
pub(crate) async fn learned(world: &World, outcomes: usize, count: usize) -> Result<Learned> {
    let (quorum, voices) = in_memory(world)?;
    let scope = quorum.scope(Tenant::default(), "lab");
    let task = |list| Task { questions: 0, list, voices: NAMES.len() };
    let all = questions(outcomes + count);
    let past = evaluation(&quorum, world, &task("majority"), ("past", all[..outcomes].to_vec()))?;
    know(&voices, &past);
    let answers = past.run(&scope, &Unwatched).await?;
    past.record_outcomes(&scope, &answers).await?;
    let now = evaluation(&quorum, world, &task("settle"), ("now", all[outcomes..].to_vec()))?;
    know(&voices, &now);
    let report = Report::of(&now, &now.run(&scope, &Unwatched).await?, &About::default());
    let settle = report.protocols.iter().find(|it| it.name == "settle").context("a protocol")?;
    let known = answers.firsts.iter().map(|it| known(it, &answers.posed[it.question]));
    Ok(Learned { known: known.collect(), accuracy: settle.accuracy, calls: settle.calls })
}

fn known(first: &FirstAnswers, posed: &Posed) -> KnownQuestion {
    let answer = |it: &First| KnownAnswer {
        voice: it.voice.clone(),
        choice: it.answer.clone(),
        confidence: it.confidence,
        is_right: matches!(posed.key, Key::Choice(right) if posed.letters[right] == it.answer),
    };
    KnownQuestion {
        weight: 1.0,
        options: posed.letters.len(),
        answers: first.answers.iter().map(answer).collect(),
    }
}

/// A fresh store in memory, with the voices of a world.
pub(crate) fn in_memory(world: &World) -> Result<(Quorum, Arc<WorldVoices>)> {
    let voices = Arc::new(WorldVoices::new(world.clone()));
    Ok((Quorum::builder().simulated().assigning_roles().world(voices.clone()).build()?, voices))
}

/// What is evaluated, and with how many voices.
struct Task<'t> {
    questions: usize,
    list: &'t str,
    voices: usize,
}

/// Evaluates protocols in a world. Returns the number of discussions as well.
pub(crate) async fn evaluated(
    quorum: (Quorum, Arc<WorldVoices>),
    world: &World,
    questions: usize,
    list: &str,
) -> Result<(usize, Report)> {
    evaluated_by(quorum, world, Task { questions, list, voices: NAMES.len() }).await
}

async fn evaluated_by(
    (quorum, voices): (Quorum, Arc<WorldVoices>),
    world: &World,
    task: Task<'_>,
) -> Result<(usize, Report)> {
    let scope: Scope = quorum.scope(Tenant::default(), "lab");
    let evaluation = evaluation(&quorum, world, &task, ("lab", questions(task.questions)))?;
    know(&voices, &evaluation);
    let answers = evaluation.run(&scope, &Unwatched).await?;
    let held =
        answers.firsts.len() + answers.rows.iter().filter(|it| is_held(&evaluation, it.protocol)).count();
    let about = About { panel: panel(&task), simulated: true, ..About::default() };
    Ok((held, Report::of(&evaluation, &answers, &about)))
}

fn panel(task: &Task<'_>) -> Vec<String> {
    NAMES.iter().take(task.voices).map(|it| (*it).to_owned()).collect()
}

/// The evaluation of a task in a world, with its run and its questions.
fn evaluation(
    quorum: &Quorum,
    world: &World,
    task: &Task<'_>,
    (run, questions): (&str, Vec<Question>),
) -> Result<Evaluation> {
    let protocols = protocols(Some(task.list), quorum.registry(), |_| false).map_err(anyhow::Error::msg)?;
    Ok(Evaluation {
        questions,
        protocols,
        request: Request {
            providers: Some(panel(task)),
            offline: Some(true),
            simulate: Some(Simulate { latency_ms: Some(0), ..Simulate::default() }),
            world: Some(world.to_string()),
            ..Request::default()
        },
        seed: 1,
        repeat: 1,
        independent: false,
        max_cost: None,
        grader: None,
        known_best: Some(NAMES[0].to_owned()),
        run: run.to_owned(),
        session: None,
    })
}

/// Tells the voices of a world the right answers.
fn know(voices: &WorldVoices, evaluation: &Evaluation) {
    for question in &evaluation.questions {
        let posed = question.posed(evaluation.seed);
        let Key::Choice(right) = posed.key else { continue };
        voices.know(&posed.topic, right);
    }
}

fn is_held(evaluation: &Evaluation, protocol: usize) -> bool {
    evaluation.protocols[protocol].way.needs_discussion()
}

fn questions(count: usize) -> Vec<Question> {
    let question = |number: usize| Question {
        id: format!("q{number}"),
        line: number,
        text: format!("Which of these is right in case {number}?"),
        context: None,
        options: ["first", "second", "third", "fourth"].map(str::to_owned).to_vec(),
        key: Key::Choice(number % 4),
    };
    (0..count).map(question).collect()
}

struct Unwatched;

impl Watch for Unwatched {
    fn report(&self, _: &Progress) {}

    fn is_stopped(&self) -> bool {
        false
    }
}
