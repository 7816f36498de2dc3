//! What only a debate has, from a request to its spec and back.

use quorum_core::model::{
    debate::{DebateSpec, Diversity, Format, JudgeFailure, Judging, Mode, Part},
    participant::Participant,
};
use serde_json::Value;

use crate::request::{Request, again::fields, bounds::Complaints, seats::place_of};

/// The fields that count in a debate alone.
pub(crate) const FIELDS: &[&str] = &[
    "debateFormat",
    "mode",
    "roundLimit",
    "judge",
    "judging",
    "judgeFailure",
    "swapCheck",
    "positions",
    "casting",
    "endOn",
    "embeddings",
];

/// How the debate is held. What a format demands is the pattern's to say.
pub(super) fn debate(request: &Request, seats: &[Participant], wrong: &mut Complaints) -> DebateSpec {
    if request.pattern.as_deref() != Some("debate") {
        for field in given(request) {
            wrong.add(field, "counts only in a debate; make debate the pattern, or leave this out");
        }
        return DebateSpec::default();
    }
    let is_named =
        |it: &str| it.split_once('/').is_some_and(|(one, other)| !one.is_empty() && !other.is_empty());
    if let Some(wanted) = request.embeddings.as_deref().filter(|it| !is_named(it)) {
        wrong.add("embeddings", format!("has the form provider/model, which {wanted:?} has not"));
    }
    let pick = &mut Pick(wrong);
    DebateSpec {
        format: pick
            .of("debateFormat", &request.debate_format, &Format::ALL, Format::name)
            .unwrap_or_default(),
        mode: pick.of("mode", &request.mode, &Mode::ALL, Mode::name).unwrap_or_default(),
        round_limit: request.round_limit,
        judging: pick.of("judging", &request.judging, &Judging::ALL, Judging::name).unwrap_or_default(),
        judge_failure: pick
            .of("judgeFailure", &request.judge_failure, &JudgeFailure::ALL, JudgeFailure::name)
            .unwrap_or_default(),
        swap_check: request.swap_check.unwrap_or_default(),
        end_on: request.end_on.clone().unwrap_or_default(),
        embeddings: request.embeddings.clone(),
        positions: request.positions.iter().flatten().map(|part| seated(part, seats)).collect(),
        casting: pick.of("casting", &request.casting, &Diversity::ALL, Diversity::name),
    }
}

/// The request with this debate in it; what is usual is left out.
pub(super) fn with_debate(request: Request, debate: &DebateSpec) -> Request {
    let DebateSpec {
        format,
        mode,
        round_limit,
        judging,
        judge_failure,
        swap_check,
        end_on,
        embeddings,
        positions,
        casting,
    } = debate;
    let usual = DebateSpec::default();
    Request {
        debate_format: (*format != usual.format).then(|| format.name().to_owned()),
        mode: (*mode != usual.mode).then(|| mode.name().to_owned()),
        round_limit: *round_limit,
        judging: (*judging != usual.judging).then(|| judging.name().to_owned()),
        judge_failure: (*judge_failure != usual.judge_failure).then(|| judge_failure.name().to_owned()),
        swap_check: swap_check.then_some(true),
        end_on: (!end_on.is_empty()).then(|| end_on.clone()),
        embeddings: embeddings.clone(),
        positions: (!positions.is_empty()).then(|| positions.clone()),
        casting: casting.map(|it| it.name().to_owned()),
        ..request
    }
}

/// Forgets everything that is for a debate alone.
pub(super) fn forget(request: &mut Request) {
    let mut rest = fields(request);
    rest.retain(|field, _| !FIELDS.contains(&field.as_str()));
    // The topic is the one field a request can't be without.
    rest.entry("topic").or_insert_with(|| Value::String(String::new()));
    if let Ok(rest) = serde_json::from_value(Value::Object(rest)) {
        *request = rest;
    }
}

fn given(request: &Request) -> Vec<&'static str> {
    let given = fields(request);
    FIELDS.iter().copied().filter(|field| given.contains_key(*field)).collect()
}

/// The part under the name of its seat: `anthropic` is `claude`.
fn seated(part: &Part, seats: &[Participant]) -> Part {
    let name = place_of(seats, &part.participant).map(|place| seats[place].name.clone());
    Part { participant: name.unwrap_or_else(|| part.participant.clone()), ..part.clone() }
}

struct Pick<'c>(&'c mut Complaints);

impl Pick<'_> {
    /// The value of that name; a name nobody knows is refused with those there are.
    fn of<T: Copy>(
        &mut self,
        field: &str,
        given: &Option<String>,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let given = given.as_deref()?;
        let known = all.iter().copied().find(|it| name(*it) == given);
        if known.is_none() {
            let names: Vec<&str> = all.iter().map(|it| name(*it)).collect();
            self.0.add(field, format!("there is no {given:?}; there are {}", names.join(", ")));
        }
        known
    }
}
