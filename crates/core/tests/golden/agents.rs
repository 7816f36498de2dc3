//! Facts about agents.

use std::sync::Arc;

use quorum_core::model::{
    agent::{Ability, Agent, Candidate, LeftOut, PassedOver, Reason, SpeaksThrough},
    event::Event,
    participant::Participant,
    spec::Spec,
};

use crate::{Sample, spec};

pub(crate) fn agents() -> Vec<Sample> {
    let candidate = |provider: &str, reason| Candidate {
        provider: provider.into(),
        model: None,
        aliases: vec!["Rev Iewer".into()],
        strengths: vec!["code".into()],
        reason,
        abilities: vec!["diffs".into()],
        left_out: vec![LeftOut { id: "long".into(), why: "12000 tokens; there is room for 9990".into() }],
        temperature: Some(0.2),
    };
    let task = candidate("bob", Reason::Task("review".into()));
    let agent = Agent {
        id: "reviewer".into(),
        display_name: Some("Rev Iewer".into()),
        role: None,
        text: "# Your profile\n\nRead closely.".into(),
        rest: "# The discussion".into(),
        abilities: vec![Ability { id: "diffs".into(), digest: "00ff".into(), text: "# diffs".into() }],
        missing: vec!["gone".into()],
        candidates: vec![
            Candidate { model: Some("bob-2".into()), ..task },
            candidate("ann", Reason::Preferred),
            candidate("cyd", Reason::Fallback),
            candidate("dan", Reason::Any),
            candidate("claude", Reason::Usual),
        ],
        max_tokens: Some(900),
        writer: Some("ann".into()),
    };
    let reviewer = Participant {
        name: "reviewer".into(),
        weight: 1.5,
        agent: Some(Arc::new(agent)),
        ..Participant::of("bob")
    };
    let spec = Spec { participants: vec![reviewer], ..(*spec()).clone() };
    let through = SpeaksThrough {
        provider: "ann".into(),
        model: None,
        reason: Reason::Preferred,
        passed_over: vec![PassedOver { candidate: "bob/bob-2".into(), message: "no answer".into() }],
    };
    let seated = Event::PanelSeated {
        seated: vec!["reviewer".into()],
        absent: Vec::new(),
        models: Default::default(),
        labels: Vec::new(),
        agents: [("reviewer".to_owned(), through)].into(),
    };
    vec![
        (None, Event::Opened { spec: Arc::new(spec), flow: 1, lineage: None, fork: None, caller: None }),
        (None, seated),
    ]
}

/// An agent that has a role in its profile.
pub(crate) fn in_roles() -> Vec<Sample> {
    let agent = Agent { id: "reviewer".into(), role: Some("security engineer".into()), ..Agent::default() };
    let reviewer =
        Participant { name: "reviewer".into(), agent: Some(Arc::new(agent)), ..Participant::of("bob") };
    let spec = Arc::new(Spec { participants: vec![reviewer], ..(*spec()).clone() });
    vec![(None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None })]
}
