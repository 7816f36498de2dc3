//! Whether a configuration makes sense: every value is tried as if it had been typed.

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::error::{Code, Refusal},
};

use crate::{Config, Error, Quorum, Request, config::long_of, voices};

/// Everything that is set and can't be used, in words: defaults first, then each preset.
#[must_use]
pub fn complaints(config: &Config) -> Vec<String> {
    let voices = Arc::new(voices::simulated());
    let door = Quorum::over(config.clone(), Arc::new(MemoryStore::new()), voices).assigning_roles();
    let presets = config.presets().map(|name| Some(name.to_owned()));
    let mut complaints = Vec::new();
    for preset in std::iter::once(None).chain(presets) {
        for complaint in door.complaints(preset) {
            if !complaints.contains(&complaint) {
                complaints.push(complaint);
            }
        }
    }
    complaints
}

impl Quorum {
    /// Refuses a preset nobody wrote.
    pub(super) fn known_preset(&self, request: &Request) -> Result<(), Error> {
        let Some(name) = &request.preset else { return Ok(()) };
        let unknown = |message| Refusal::new("preset", Code::InvalidRequest, message);
        self.config.preset(name).map(drop).map_err(|message| Error::Refused(vec![unknown(message)]))
    }

    /// A default that is wrong is to be put right in the file.
    pub(super) fn say_where(&self, refusal: Refusal, filled: &[String], preset: Option<&str>) -> Refusal {
        if !filled.contains(&refusal.field) {
            return refusal;
        }
        let section = self.config.section_of(preset, &refusal.field);
        let message = format!("{} (from [{section}] in {})", refusal.message, self.config.file.display());
        Refusal { message, ..refusal }
    }

    /// What is wrong with the values of this preset and of the defaults. What only lacks something may be given when it is used.
    fn complaints(&self, preset: Option<String>) -> Vec<String> {
        let request = Request { preset, ..Request::on("x") };
        let filled = self.config.fill(&request).1;
        let Err(Error::Refused(refusals)) = self.check(&request) else { return Vec::new() };
        let of_file = refusals.into_iter().filter(|it| filled.contains(&it.field));
        of_file
            .map(|it| {
                let section = self.config.section_of(request.preset.as_deref(), &it.field);
                let long = long_of(&it.field);
                let message = it.message.split(" (from [").next().unwrap_or_default();
                format!("{section}.{long}: {message}")
            })
            .collect()
    }
}
