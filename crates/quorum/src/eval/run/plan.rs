//! The plan of an evaluation: how many discussions and calls, and what they may cost, with shared
//! first answers and without.

use quorum_core::model::{money::Usd, participant::Participant, spec::Spec};
use serde::Serialize;

use super::{
    Evaluation,
    grading::{self, Order},
};
use crate::{
    Error, Figures, Plan, Scope,
    eval::{
        grade::{Key, Test},
        protocol::{Protocol, Way},
        question::Posed,
    },
};

/// The plan of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// The number of questions.
    pub questions: usize,
    /// How often each is asked.
    pub repeat: u32,
    /// The panel.
    pub panel: Vec<String>,
    /// Every protocol.
    pub protocols: Vec<PlannedProtocol>,
    /// All discussions.
    pub discussions: usize,
    /// Calls, tokens and cost of all of them, with every answer as long as it may be.
    pub most: Figures,
    /// The same if every protocol asked for first answers of its own.
    pub without_sharing: Figures,
    /// Participants without a known price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
    /// The cost of grading by a model, where answers need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader: Option<PlannedGrader>,
    /// Whether the voices are simulated.
    pub simulated: bool,
}

/// The plan of grading by a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedGrader {
    /// Its name.
    pub name: String,
    /// Whether it is also a member of the panel, and would grade its own answers.
    pub sits_on_panel: bool,
    /// The most calls: two for each description and each answer, if no two answers are the same.
    pub calls: u32,
    /// Their cost in USD, with answers of the length of first answers.
    pub cost_usd: f64,
}

/// The plan of one protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedProtocol {
    /// Its name.
    pub name: String,
    /// The number of questions that it can be used for.
    pub questions: usize,
    /// Calls for one question, first answers included.
    pub calls_each: f64,
    /// Calls that are made for all questions beyond shared first answers.
    pub calls: u32,
    /// The cost of these calls in USD.
    pub cost_usd: f64,
}

/// How many questions of each kind are planned in full. They stand for all of their kind.
const SAMPLED: usize = 3;

/// Questions with options, or those without. Within a kind, the same calls are made for each
/// question, and only their lengths differ.
struct Kind<'a> {
    count: usize,
    /// Questions of all lengths, each with the plan of its first answers.
    sample: Vec<(&'a Posed, Sum)>,
}

pub(super) async fn planned(evaluation: &Evaluation, scope: &Scope) -> Result<Planned, Error> {
    let posed = evaluation.posed();
    let Some(first) = posed.first() else { return Ok(nothing(evaluation)) };
    let base = scope.check(&evaluation.sample_base(first))?;
    let panel: Vec<String> =
        base.participants.iter().filter(|it| !it.is_person()).map(|it| it.name.clone()).collect();
    let repeat = evaluation.repeat.max(1) as usize;
    let kinds = kinds(evaluation, scope, &posed).await?;
    let of_kind = |it: &Kind<'_>| {
        let firsts: Vec<Sum> = it.sample.iter().map(|it| it.1).collect();
        times_of(typical(&firsts), it.count * repeat)
    };
    let mut most = kinds.iter().map(of_kind).fold(Sum::default(), Sum::and);
    let (mut alone, mut discussions) = (Sum::default(), posed.len() * repeat);
    let mut protocols = Vec::new();
    for protocol in &evaluation.protocols {
        let (mut whole, mut new, mut fitting) = (Sum::default(), Sum::default(), 0);
        for kind in kinds.iter().filter(|it| it.sample.iter().all(|(posed, _)| protocol.fits(posed))) {
            let (one, one_new) = of_protocol(evaluation, scope, protocol, kind, &panel).await?;
            whole = whole.and(times_of(one, kind.count * repeat));
            new = new.and(times_of(one_new, kind.count * repeat));
            fitting += kind.count;
        }
        alone = alone.and(whole);
        if protocol.way.needs_discussion() {
            most = most.and(new);
            discussions += fitting * repeat;
        } else {
            new = Sum::default();
        }
        protocols.push(PlannedProtocol {
            name: protocol.name.clone(),
            questions: fitting,
            calls_each: whole.calls / (fitting * repeat).max(1) as f64,
            calls: new.calls.round() as u32,
            cost_usd: new.usd,
        });
    }
    Ok(Planned {
        questions: posed.len(),
        repeat: evaluation.repeat.max(1),
        panel,
        protocols,
        discussions,
        most: most.figures(),
        without_sharing: alone.figures(),
        unpriced: scope.plan(&base).await?.unpriced,
        grader: grader(evaluation, scope, &posed, &base).await?,
        simulated: base.simulation.is_some(),
    })
}

/// The questions by kind, with a sample of each.
async fn kinds<'a>(
    evaluation: &Evaluation,
    scope: &Scope,
    posed: &'a [Posed],
) -> Result<Vec<Kind<'a>>, Error> {
    let (with, without): (Vec<&Posed>, Vec<&Posed>) = posed.iter().partition(|it| !it.letters.is_empty());
    let mut kinds = Vec::new();
    for all in [with, without].into_iter().filter(|it| !it.is_empty()) {
        let mut sample = Vec::new();
        for it in sampled(&all) {
            sample.push((it, usual(scope, it, &evaluation.sample_base(it)).await?));
        }
        kinds.push(Kind { count: all.len(), sample });
    }
    Ok(kinds)
}

/// The plan of a protocol for one question of this kind: of everything, and of what it asks beyond
/// shared first answers.
async fn of_protocol(
    evaluation: &Evaluation,
    scope: &Scope,
    protocol: &Protocol,
    kind: &Kind<'_>,
    panel: &[String],
) -> Result<(Sum, Sum), Error> {
    let (mut all, mut new) = (Vec::new(), Vec::new());
    for (posed, firsts) in &kind.sample {
        let one = match &protocol.way {
            Way::Single(_) => firsts.part(panel.len()),
            Way::Baseline => *firsts,
            Way::SelfConsistency { .. } | Way::Discussion { .. } => {
                usual(scope, posed, &evaluation.sample_request(protocol, posed, panel)).await?
            }
        };
        all.push(one);
        new.push(one.less(shared(evaluation, protocol, *firsts, panel.len())));
    }
    Ok((typical(&all), typical(&new)))
}

/// The cost of grading by a model; `None` if no question needs it, or no model is named.
async fn grader(
    evaluation: &Evaluation,
    scope: &Scope,
    posed: &[Posed],
    base: &Spec,
) -> Result<Option<PlannedGrader>, Error> {
    let Some(name) = evaluation.grader.clone() else { return Ok(None) };
    let open = || posed.iter().filter(|it| descriptions(it) > 0);
    let Some(longest) = open().max_by_key(|it| it.topic.len()) else { return Ok(None) };
    let text = grading::question(longest, SAMPLE_ANSWER, SAMPLE_ANSWER, "00000000", Order::AnswerFirst);
    let asked = grading::asked(&Evaluation { session: None, ..evaluation.clone() }, text);
    let spec = scope.check_one_voice(&asked)?;
    let seat = spec.participants.first();
    let sits = |member: &Participant| {
        let same =
            |one: &Option<String>, other: &Option<String>| one.is_none() || other.is_none() || one == other;
        seat.is_some_and(|it| it.provider == member.provider && same(&it.model, &member.model))
    };
    let voices = base.participants.iter().filter(|it| !it.is_person()).count();
    let held = |it: &Posed| {
        evaluation.protocols.iter().filter(|way| way.way.needs_discussion() && way.fits(it)).count()
    };
    let each = |it: &Posed| 2 * descriptions(it) * (voices + held(it)) * evaluation.repeat.max(1) as usize;
    let calls: usize = open().map(each).sum();
    let one = scope.plan(&spec).await?.usual.cost_usd;
    let sits_on_panel = base.participants.iter().any(sits);
    Ok(Some(PlannedGrader { name, sits_on_panel, calls: calls as u32, cost_usd: one * calls as f64 }))
}

/// An answer as long as first answers usually are.
const SAMPLE_ANSWER: &str =
    "An answer that takes about as much room as first answers usually do, with its reason.";

/// The descriptions that a model has to compare answers to this question with.
fn descriptions(posed: &Posed) -> usize {
    match &posed.key {
        Key::Checks(checks) => checks.iter().filter(|it| matches!(it.test, Test::Rubric(_))).count(),
        Key::Choice(_) => 0,
    }
}

/// The maximum cost of a discussion of each protocol, for the longest question; the last is that
/// of the first answers.
pub(super) async fn max_costs(evaluation: &Evaluation, scope: &Scope) -> Result<Vec<Usd>, Error> {
    let posed = evaluation.posed();
    let longest = posed.iter().max_by_key(|it| it.topic.len() + it.context.as_ref().map_or(0, String::len));
    let Some(longest) = longest else { return Ok(Vec::new()) };
    let base = scope.check(&evaluation.sample_base(longest))?;
    let panel: Vec<String> = base.participants.iter().map(|it| it.name.clone()).collect();
    let mut costs = Vec::new();
    for protocol in &evaluation.protocols {
        let request = evaluation.sample_request(protocol, longest, &panel);
        // A protocol that doesn't fit this question costs nothing here.
        let cost = match scope.check(&request) {
            Ok(spec) => reserved(&scope.plan(&spec).await?),
            Err(_) => 0.0,
        };
        costs.push(Usd::from_dollars(cost).unwrap_or_default());
    }
    let first = reserved(&scope.plan(&base).await?);
    costs.push(Usd::from_dollars(first).unwrap_or_default());
    Ok(costs)
}

/// The cost reserved for a discussion: that of answers of the maximum length or, if it is higher,
/// that of typical answers asked for twice because they can't be read. A discussion that runs out
/// of money halfway has spent it for nothing.
pub(super) fn reserved(plan: &Plan) -> f64 {
    plan.usual.cost_usd.max(2.0 * plan.typical.cost_usd).min(plan.most.cost_usd)
}

/// Questions that represent all: sorted by length, the middle one of each of several equal parts.
fn sampled<'a>(posed: &[&'a Posed]) -> Vec<&'a Posed> {
    let mut sorted = posed.to_vec();
    sorted.sort_by_key(|it| it.topic.len() + it.context.as_ref().map_or(0, String::len));
    let count = SAMPLED.min(sorted.len());
    (0..count).map(|it| sorted[(2 * it + 1) * sorted.len() / (2 * count)]).collect()
}

fn nothing(evaluation: &Evaluation) -> Planned {
    Planned {
        questions: 0,
        repeat: evaluation.repeat,
        panel: Vec::new(),
        protocols: Vec::new(),
        discussions: 0,
        most: Figures::default(),
        without_sharing: Figures::default(),
        unpriced: Vec::new(),
        grader: None,
        simulated: false,
    }
}

/// The first answers that a protocol reuses from those shared by all protocols.
fn shared(evaluation: &Evaluation, protocol: &Protocol, firsts: Sum, panel: usize) -> Sum {
    match &protocol.way {
        _ if evaluation.independent => Sum::default(),
        Way::SelfConsistency { .. } => firsts.part(panel),
        Way::Single(_) | Way::Baseline | Way::Discussion { .. } => firsts,
    }
}

/// The plan of a discussion of this question, without repeated calls.
async fn usual(scope: &Scope, posed: &Posed, request: &crate::Request) -> Result<Sum, Error> {
    let spec = Spec { graded: posed.letters.is_empty(), ..scope.check(request)? };
    let Figures { calls, tokens, cost_usd } = scope.plan(&spec).await?.usual;
    Ok(Sum { calls: f64::from(calls), tokens: tokens as f64, usd: cost_usd })
}

/// The sum that stands for each of these: the most calls, because their total is a maximum, and the
/// mean of what grows with the length of the question.
fn typical(sums: &[Sum]) -> Sum {
    let all = sums.iter().fold(Sum::default(), |all, it| all.and(*it)).part(sums.len());
    Sum { calls: sums.iter().map(|it| it.calls).fold(0.0, f64::max), ..all }
}

/// Calls, tokens and cost.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    calls: f64,
    tokens: f64,
    usd: f64,
}

impl Sum {
    fn and(self, other: Sum) -> Sum {
        Sum { calls: self.calls + other.calls, tokens: self.tokens + other.tokens, usd: self.usd + other.usd }
    }

    fn less(self, other: Sum) -> Sum {
        let less = |one: f64, other: f64| (one - other).max(0.0);
        Sum {
            calls: less(self.calls, other.calls),
            tokens: less(self.tokens, other.tokens),
            usd: less(self.usd, other.usd),
        }
    }

    fn part(self, parts: usize) -> Sum {
        times_of(self, 1).scaled(1.0 / parts.max(1) as f64)
    }

    fn scaled(self, by: f64) -> Sum {
        Sum { calls: self.calls * by, tokens: self.tokens * by, usd: self.usd * by }
    }

    fn figures(self) -> Figures {
        Figures { calls: self.calls.round() as u32, tokens: self.tokens.round() as u64, cost_usd: self.usd }
    }
}

fn times_of(sum: Sum, times: usize) -> Sum {
    sum.scaled(times as f64)
}
