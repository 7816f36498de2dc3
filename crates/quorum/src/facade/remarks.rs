//! Remarks on an order: values without an effect, or with an effect that their names don't suggest.
//! The order is still accepted.

use std::collections::BTreeSet;

use quorum_core::model::{
    error::{Code, Refusal},
    participant::Participant,
    spec::Spec,
};
use quorum_providers::{
    catalog,
    source::Transport,
    wire::{self, Wire},
};

use crate::Quorum;

/// The field of the sampling temperature.
const TEMPERATURE: &str = "temperature";

/// The field of the panel.
const PARTICIPANTS: &str = "participants";

impl Quorum {
    /// The remarks to show before this order starts.
    pub(super) fn remarks(&self, spec: &Spec) -> Vec<Refusal> {
        let mut remarks = self.registry().remarks(spec);
        let is_told = remarks.iter().any(|it| it.field == TEMPERATURE);
        remarks.extend(self.too_hot(spec).filter(|_| !is_told));
        let agents = spec.participants.iter().filter_map(|it| Some(it.agent.as_ref()?.id.as_str()));
        let agents: BTreeSet<&str> = agents.collect();
        remarks.extend(agents.into_iter().filter_map(|it| self.misnamed(it)));
        remarks
    }

    /// An agent whose file is named otherwise, which is hard to find.
    fn misnamed(&self, agent: &str) -> Option<Refusal> {
        let warning = self.agent_warning(agent)?;
        Some(Refusal::new(PARTICIPANTS, Code::InvalidRequest, format!("{agent}: {warning}")))
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
