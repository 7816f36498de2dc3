//! The plan of an evaluation: how many discussions and calls, and what they may cost, with shared
//! first answers and without.

use quorum_core::model::{money::Usd, spec::Spec};
use serde::Serialize;

use super::Evaluation;
use crate::{
    Error, Figures, Scope,
    eval::{
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
    /// Whether the voices are simulated.
    pub simulated: bool,
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

/// How many questions are planned in full. Their mean stands for all.
const SAMPLED: usize = 8;

pub(super) async fn planned(evaluation: &Evaluation, scope: &Scope) -> Result<Planned, Error> {
    let posed = evaluation.posed();
    let sample = sampled(&posed);
    let first = sample.first().copied();
    let Some(first) = first else { return Ok(nothing(evaluation)) };
    let base = scope.check(&evaluation.sample_base(first))?;
    let panel: Vec<String> =
        base.participants.iter().filter(|it| !it.is_person()).map(|it| it.name.clone()).collect();
    let times = posed.len() * evaluation.repeat.max(1) as usize;
    let firsts = mean(scope, &sample, |it| evaluation.sample_base(it)).await?;
    let simulated = base.simulation.is_some();
    let unpriced = scope.plan(&base).await?.unpriced;
    let (mut most, mut alone) = (times_of(firsts, times), Sum::default());
    let mut protocols = Vec::new();
    let mut discussions = times;
    for protocol in &evaluation.protocols {
        let fitting = posed.iter().filter(|it| protocol.fits(it)).count();
        let times = fitting * evaluation.repeat.max(1) as usize;
        let sample: Vec<&Posed> = sample.iter().copied().filter(|it| protocol.fits(it)).collect();
        let of = |it: &Posed| evaluation.sample_request(protocol, it, &panel);
        let one = match (&protocol.way, sample.is_empty()) {
            (_, true) => Sum::default(),
            (Way::Single(_), false) => firsts.part(panel.len()),
            (Way::Baseline, false) => firsts,
            _ => mean(scope, &sample, of).await?,
        };
        let shared = shared(evaluation, protocol, firsts, panel.len());
        let new = one.less(shared);
        alone = alone.and(times_of(one, times));
        if protocol.way.is_held() {
            most = most.and(times_of(new, times));
            discussions += times;
        }
        let calls = if protocol.way.is_held() { new.calls * times as f64 } else { 0.0 };
        protocols.push(PlannedProtocol {
            name: protocol.name.clone(),
            questions: fitting,
            calls_each: one.calls,
            calls: calls.round() as u32,
            cost_usd: if protocol.way.is_held() { new.usd * times as f64 } else { 0.0 },
        });
    }
    let (questions, repeat) = (posed.len(), evaluation.repeat.max(1));
    let (most, without_sharing) = (most.figures(), alone.figures());
    Ok(Planned {
        questions,
        repeat,
        panel,
        protocols,
        discussions,
        most,
        without_sharing,
        unpriced,
        simulated,
    })
}

/// What a discussion of each protocol may cost at most, for the longest question; the last is that
/// of the first answers.
pub(super) async fn dearest(evaluation: &Evaluation, scope: &Scope) -> Result<Vec<Usd>, Error> {
    let posed = evaluation.posed();
    let longest = posed.iter().max_by_key(|it| it.topic.len() + it.context.as_ref().map_or(0, String::len));
    let Some(longest) = longest else { return Ok(Vec::new()) };
    let base = scope.check(&evaluation.sample_base(longest))?;
    let panel: Vec<String> = base.participants.iter().map(|it| it.name.clone()).collect();
    let mut costs = Vec::new();
    for protocol in &evaluation.protocols {
        let request = evaluation.sample_request(protocol, longest, &panel);
        // A protocol that this question can't be put to costs nothing with it.
        let cost = match scope.check(&request) {
            Ok(spec) => scope.plan(&spec).await?.usual.cost_usd,
            Err(_) => 0.0,
        };
        costs.push(Usd::from_dollars(cost).unwrap_or_default());
    }
    let first = scope.plan(&base).await?.usual.cost_usd;
    costs.push(Usd::from_dollars(first).unwrap_or_default());
    Ok(costs)
}

/// Questions at equal distances.
fn sampled(posed: &[Posed]) -> Vec<&Posed> {
    let step = posed.len().div_ceil(SAMPLED).max(1);
    posed.iter().step_by(step).collect()
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
        simulated: false,
    }
}

/// The first answers that a protocol takes over from those that were asked for all.
fn shared(evaluation: &Evaluation, protocol: &Protocol, firsts: Sum, panel: usize) -> Sum {
    match &protocol.way {
        _ if evaluation.independent => Sum::default(),
        Way::SelfConsistency { .. } => firsts.part(panel),
        Way::Single(_) | Way::Baseline | Way::Discussion { .. } => firsts,
    }
}

/// The mean of the plans of these questions.
async fn mean(
    scope: &Scope,
    sample: &[&Posed],
    request: impl Fn(&Posed) -> crate::Request,
) -> Result<Sum, Error> {
    let mut sum = Sum::default();
    for posed in sample {
        let spec = Spec { graded: posed.letters.is_empty(), ..scope.check(&request(posed))? };
        let Figures { calls, tokens, cost_usd } = scope.plan(&spec).await?.usual;
        sum = sum.and(Sum { calls: f64::from(calls), tokens: tokens as f64, usd: cost_usd });
    }
    Ok(sum.part(sample.len()))
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
