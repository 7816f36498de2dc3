//! Remarks on an order: values without an effect, or with an effect that their names don't suggest.
//! The order is still accepted.

use std::collections::{BTreeMap, BTreeSet};

use quorum_core::model::{
    agent::Agent,
    error::{Code, Refusal},
    participant::Participant,
    spec::Spec,
};
use quorum_providers::{
    catalog,
    source::Transport,
    wire::{self, Wire},
};

use crate::{Quorum, config::nearest};

/// The field of the sampling temperature.
const TEMPERATURE: &str = "temperature";

/// The field of the panel.
const PARTICIPANTS: &str = "participants";

/// The field of the models that take part.
const PROVIDERS: &str = "providers";

/// The field of the pattern.
const PATTERN: &str = "pattern";

/// A follow-up question whose pattern is not that of the discussion it follows.
fn without_options(spec: &Spec) -> Option<Refusal> {
    let before = spec.follows.as_ref()?.pattern.as_ref()?;
    let message = format!("{before} votes on options, and none are given, so it is {} now", spec.pattern);
    Some(Refusal::new(PATTERN, Code::InvalidRequest, message))
}

impl Quorum {
    /// The remarks to show before this order starts.
    pub(super) fn remarks(&self, spec: &Spec) -> Vec<Refusal> {
        let mut remarks = self.registry().remarks(spec);
        remarks.extend(without_options(spec));
        remarks.extend(self.misspelt(spec));
        let is_told = remarks.iter().any(|it| it.field == TEMPERATURE);
        remarks.extend(self.too_hot(spec).filter(|_| !is_told));
        let agents = spec.participants.iter().filter_map(|it| it.agent.as_deref());
        let agents: BTreeMap<&str, &Agent> = agents.map(|it| (it.id.as_str(), it)).collect();
        remarks.extend(agents.into_values().flat_map(|it| self.misnamed(it)));
        remarks
    }

    /// An agent or abilities whose files are named otherwise, which are hard to find.
    fn misnamed(&self, agent: &Agent) -> Vec<Refusal> {
        let told = |warning: String| {
            Refusal::new(PARTICIPANTS, Code::InvalidRequest, format!("{}: {warning}", agent.id))
        };
        self.agent_warnings(agent).into_iter().map(told).collect()
    }

    /// Simulated participants that are named nearly as a provider: any name will do for them, so a
    /// typo is not refused.
    fn misspelt(&self, spec: &Spec) -> Vec<Refusal> {
        if spec.simulation.as_ref().is_none_or(|it| it.world.is_some()) {
            return Vec::new();
        }
        let of_user = self.0.setup.providers.iter().map(|it| it.name.as_str());
        let known: Vec<&str> = catalog::rows().iter().map(|row| row.name.as_str()).chain(of_user).collect();
        let seats = spec.participants.iter().filter(|it| !it.is_person() && it.agent.is_none());
        let named: BTreeSet<&str> = seats.map(|it| it.provider.as_str()).collect();
        let meant = |it: &&str| nearest(it, known.iter().copied()).filter(|_| !known.contains(it));
        let told = |it: &str, meant: &str| {
            let message = format!("{it} is not a known provider; did you mean {meant}?");
            Refusal::new(PROVIDERS, Code::InvalidRequest, message)
        };
        named.iter().filter_map(|it| Some(told(it, meant(it)?))).collect()
    }

    /// Participants whose provider takes no temperature as high as this one.
    fn too_hot(&self, spec: &Spec) -> Option<Refusal> {
        let given = spec.manner.temperature;
        let lowered = |it: &Participant| {
            let hottest = self.wire_of(it)?.hottest;
            (hottest < given).then(|| format!("{} takes at most {hottest}", it.name))
        };
        let lowered: Vec<String> = spec.participants.iter().filter_map(lowered).collect();
        let message = format!("{}, so {given} is lowered for it", lowered.join(", "));
        let is_told = !lowered.is_empty() && spec.simulation.is_none();
        is_told.then(|| Refusal::new(TEMPERATURE, Code::InvalidRequest, message))
    }

    /// The format in which a participant's provider is asked: as the user configured it, or as the
    /// catalogue has it. People and programs have none.
    fn wire_of(&self, seat: &Participant) -> Option<&'static Wire> {
        if seat.is_person() {
            return None;
        }
        match self.0.setup.provider(&seat.provider).map(|it| &it.transport) {
            Some(Ok(Transport::Http(endpoint))) => Some(endpoint.wire),
            Some(Ok(Transport::Command(_))) => None,
            Some(Err(_)) | None => wire::wire(&catalog::row(&seat.provider)?.wire),
        }
    }
}
