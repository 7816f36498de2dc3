//! One prompt of each kind, as a model reads it.

use std::sync::Arc;

use quorum_core::{
    floor::ask::Ask,
    model::{
        client::ClientOrder,
        mask::Mask,
        mention::resolve,
        participant::{Participant, Role},
        spec::{Manner, Spec},
    },
};
use quorum_testkit::spec::spec;

use crate::{
    debate::{DebateSpec, Diversity, Format, Part, rubric::Rubric},
    prompts::{
        debating::{self, JudgeView},
        deciding::{self, Writing},
        summary, talk,
    },
    roles::{MODERATOR, NEUTRAL},
};

/// What an answer is asked to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Prose,
    Json,
    Markers,
    Synthesis,
    /// An answer as a JSON value of a client's schema.
    Value,
}

/// One prompt as a model reads it, and the most tokens that it may take without what users and
/// participants wrote.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) system: String,
    pub(super) task: String,
    pub(super) most_system: u64,
    pub(super) most_task: u64,
    /// The same for a small model: system text, task, and the task as lines.
    pub(super) compact: Option<(String, String, Option<String>)>,
}

const FRAME: u64 = 200;
pub(super) const DEBATER: u64 = 300;
const JUDGE: u64 = 430;
const WRITER: u64 = 120;
const PROSE: u64 = 75;
const FORM: u64 = 220;
const SYNTHESIS: u64 = 300;
/// The scale of a confidence, where an early exit needs one.
const SCALE: u64 = 55;
const SUMMARY: u64 = 100;

/// The text as a model reads it, with labels.
pub(super) fn labelled(text: &str) -> String {
    let label = |name: &str| match name {
        "ann" => "@KX".to_owned(),
        "bob" => "@QV".to_owned(),
        "cyd" => "@ZJ".to_owned(),
        other => panic!("{other} is not seated"),
    };
    resolve(text, label)
}

fn prompt(name: &'static str, kind: Kind, ask: &Ask, (most_system, most_task): (u64, u64)) -> Prompt {
    let (system, task) = (labelled(ask.system()), labelled(ask.prompt()));
    let compact = ask.compact().map(|it| {
        let lines = it.lines.as_ref().map(|it| labelled(&it.prompt));
        (labelled(&it.system), labelled(&it.prompt), lines)
    });
    Prompt { name, kind, system, task, most_system, most_task, compact }
}

pub(super) fn of(pattern: &str, topic: &str) -> Spec {
    let manner = Manner { temperature: 0.7, max_tokens: 2_048 };
    Spec { topic: topic.to_owned(), manner, ..spec(pattern) }
}

fn parts() -> Vec<Part> {
    let part = |name: &str, position: &str, persona: &str| Part {
        participant: name.to_owned(),
        position: position.to_owned(),
        persona: persona.to_owned(),
        key_arguments: vec!["Everyone can choose the width.".to_owned()],
    };
    vec![
        part("ann", "Tabs should be chosen because they adapt.", "Cares about access, fears rules."),
        part("bob", "Spaces should be chosen because they look alike.", "Cares about order, fears noise."),
    ]
}

/// Every prompt for a model, on this question.
pub(super) fn all(topic: &str) -> Vec<Prompt> {
    [talking(topic), debate(topic), votes(topic), written(topic)].concat()
}

fn talking(topic: &str) -> Vec<Prompt> {
    let (talking, pair) = (of("synthesis", topic), of("dialogue", topic));
    let [ann, bob, _] = talking.participants.clone().try_into().unwrap();
    let sure = Spec { early_exit: Some(0.9), ..talking.clone() };
    let mut table = of("roundtable", topic);
    table.participants[2] = Participant { name: "cyd".to_owned(), ..Participant::person("cyd") };
    let mut lead = table.participants[0].clone();
    lead.role = Role::named("manager");
    let prose = |name, ask: &Ask| prompt(name, Kind::Prose, ask, (FRAME, PROSE));
    vec![
        prose("answer 1", &talk::answer(&talking, &ann, 1)),
        prose("answer 2", &talk::answer(&talking, &ann, 2)),
        prompt("answer with confidence", Kind::Prose, &talk::answer(&sure, &ann, 1), (FRAME, PROSE + SCALE)),
        prose("robin, opening", &talk::build_on(&talking, &ann, 1, true)),
        prose("robin", &talk::build_on(&talking, &bob, 1, false)),
        prose("turn 1", &talk::turn(&pair, &ann, &bob, 1)),
        prose("turn 2", &talk::turn(&pair, &ann, &bob, 2)),
        prose("propose", &talk::propose(&talking, &ann)),
        prose("criticise", &talk::criticise(&talking, &bob, 1)),
        prose("refine", &talk::refine(&talking, &ann, 1)),
        prompt("check", Kind::Json, &talk::check(&talking, &bob), (FRAME, FORM)),
        prose("table", &talk::at_the_table(&table, &lead, 1)),
    ]
}

fn debate(topic: &str) -> Vec<Prompt> {
    let debate = Spec { rounds: 3, ..of("debate", topic) };
    let [ann, _, cyd] = debate.participants.clone().try_into().unwrap();
    let format = |format| Spec {
        settings: DebateSpec { format, ..DebateSpec::default() }.settings(),
        ..debate.clone()
    };
    let chair = Participant { name: "cyd".to_owned(), ..Participant::of("scripted").playing(MODERATOR) };
    let neutral = Participant { name: "cyd".to_owned(), ..Participant::of("scripted").playing(NEUTRAL) };
    let of_rounds = |rounds| Spec { rounds, ..debate.clone() };
    let seated = |who: &Participant| {
        let mut spec = debate.clone();
        spec.participants[2] = who.clone();
        spec
    };
    let parts = parts();
    let speech = |name, spec: &Spec, who: &Participant, round| {
        let ask = debating::speech(spec, &parts, who, round, "");
        prompt(name, Kind::Prose, &ask, (DEBATER, PROSE))
    };
    let mask = mask(&debate);
    let rubric = Rubric::of(&[]);
    let view = JudgeView {
        spec: &debate,
        parts: &parts,
        judge: &cyd,
        mask: &mask,
        rubric: &rubric,
        heard: "In round 1 nobody could answer anyone.",
    };
    let both = ["ann".to_owned(), "bob".to_owned()];
    vec![
        speech("opening", &debate, &ann, 1),
        speech("rebuttal", &debate, &ann, 2),
        speech("closing", &debate, &ann, 3),
        speech("free-form", &format(Format::FreeForm), &ann, 2),
        speech("round-limited", &format(Format::RoundLimited), &ann, 2),
        speech("convergence-seeking", &format(Format::ConvergenceSeeking), &ann, 2),
        speech("opening of one round", &of_rounds(1), &ann, 1),
        speech("closing of two rounds", &of_rounds(2), &ann, 2),
        speech("chair", &seated(&chair), &chair, 2),
        speech("chair, opening", &seated(&chair), &chair, 1),
        speech("neutral", &seated(&neutral), &neutral, 2),
        speech("neutral, opening", &seated(&neutral), &neutral, 1),
        speech("neutral, convergence-seeking", &format(Format::ConvergenceSeeking), &neutral, 2),
        speech("beside a neutral", &seated(&neutral), &ann, 2),
        prompt("assess", Kind::Json, &debating::assessment(&view, &both, &[], 1), (JUDGE, FORM)),
        prompt("verdict", Kind::Json, &debating::verdict(&view, &[]), (JUDGE, FORM)),
        prompt("cast", Kind::Json, &debating::casting(&debate, Diversity::Binary), (FRAME, FORM)),
    ]
}

pub(super) fn mask(spec: &Spec) -> Arc<Mask> {
    let labels: Vec<(&Participant, &str)> = spec.participants.iter().zip(["@KX", "@QV", "@ZJ"]).collect();
    Arc::new(Mask::new(&labels))
}

fn votes(topic: &str) -> Vec<Prompt> {
    let (voting, talking, pair) = (of("voting", topic), of("synthesis", topic), of("dialogue", topic));
    let [ann, bob, _] = voting.participants.clone().try_into().unwrap();
    let own: Arc<str> = talk::answer(&talking, &ann, 1).system().into();
    let reasons = [("tabs", "They adapt."), ("spaces", "They last.")]
        .map(|(option, why)| (option.to_owned(), vec![why.to_owned()]));
    let options = ["agree", "disagree"].map(str::to_owned);
    let vote = |name, ask: &Ask| prompt(name, Kind::Json, ask, (FRAME, FORM));
    vec![
        vote("first answer", &deciding::first_answer(&voting, &ann)),
        vote("first answer without options", &deciding::first_answer(&talking, &ann)),
        vote("later", &deciding::later_ballot(&voting, &ann, Some("tabs"), &reasons)),
        vote("later, unread", &deciding::later_ballot(&voting, &ann, None, &reasons)),
        vote("after", &deciding::closing_ballot(&voting, &ann, Some(own.clone()))),
        vote("sign", &deciding::ballot_on_proposal(&talking, &ann, "Tabs.", &options, Some(own))),
        prompt("consensus", Kind::Markers, &deciding::consensus_check(&pair, &ann, &bob), (FRAME, FORM)),
    ]
}

fn written(topic: &str) -> Vec<Prompt> {
    let (talking, debate) = (of("synthesis", topic), of("debate", topic));
    let ann = &talking.participants[0];
    let write = |name, spec: &Spec, who: &Participant, writing| {
        prompt(name, Kind::Synthesis, &deciding::synthesis(spec, who, writing, &[]), (WRITER, SYNTHESIS))
    };
    let schema = Some(serde_json::json!({ "type": "object" }));
    let client = Some(ClientOrder { schema, ..ClientOrder::default() });
    let typed = Spec { client, ..talking.clone() };
    let value = |name, writing| {
        prompt(name, Kind::Value, &deciding::synthesis(&typed, ann, writing, &[]), (WRITER, SYNTHESIS))
    };
    let summary = Ask::new(summary::SYSTEM.trim_end(), summary::task(&talking, 200));
    vec![
        write("synthesis", &talking, ann, Writing::Synthesizer),
        write("decide", &talking, ann, Writing::Moderator),
        write("synthesis of a debate", &debate, &debate.participants[2], Writing::Synthesizer),
        value("synthesis by a schema", Writing::Synthesizer),
        value("decide by a schema", Writing::Moderator),
        prompt("minutes", Kind::Prose, &summary, (FRAME, SUMMARY)),
    ]
}
