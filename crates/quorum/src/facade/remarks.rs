//! Remarks on an order: values that have no effect, or another one than they say. The order is
//! accepted all the same.

use quorum_core::model::{
    error::{Code, Refusal},
    participant::Participant,
    spec::Spec,
};
use quorum_providers::{catalog, wire};

use crate::Quorum;

/// The field of the sampling temperature.
const TEMPERATURE: &str = "temperature";

impl Quorum {
    /// What to tell about this order before it starts.
    pub(super) fn remarks(&self, spec: &Spec) -> Vec<Refusal> {
        let mut remarks = self.registry().remarks(spec);
        let is_told = remarks.iter().any(|it| it.field == TEMPERATURE);
        remarks.extend(too_hot(spec).filter(|_| !is_told));
        remarks
    }
}

/// Participants whose provider takes no temperature as high as this one.
fn too_hot(spec: &Spec) -> Option<Refusal> {
    let given = spec.manner.temperature;
    let lowered = |it: &Participant| {
        let row = catalog::row(&it.provider).filter(|_| !it.is_person())?;
        let hottest = wire::wire(&row.wire)?.hottest;
        (hottest < given).then(|| format!("{} takes at most {hottest}", it.name))
    };
    let lowered: Vec<String> = spec.participants.iter().filter_map(lowered).collect();
    let message = format!("{}, so {given} is lowered for it", lowered.join(", "));
    let is_told = !lowered.is_empty() && spec.simulation.is_none();
    is_told.then(|| Refusal::new(TEMPERATURE, Code::InvalidRequest, message))
}
