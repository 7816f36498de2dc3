//! Checks a configuration: every value is tried as if it had been typed.

use quorum_core::model::error::Code;

use crate::{Complaint, Config, Error, Origin, Quorum, Request};

/// Lists all unusable values: those of the defaults first, then those of each preset.
#[must_use]
pub fn complaints(config: &Config) -> Vec<String> {
    // An in-memory store and simulated voices are always available.
    let builder = Quorum::builder().config(config.clone()).registry(config.registry().clone());
    let Ok(quorum) = builder.simulated().assigning_roles().build() else {
        return Vec::new();
    };
    let presets = config.presets().map(|name| Some(name.to_owned()));
    let mut complaints = Vec::new();
    for preset in std::iter::once(None).chain(presets) {
        for complaint in quorum.complaints_about(preset) {
            if !complaints.contains(&complaint) {
                complaints.push(complaint);
            }
        }
    }
    complaints
}

impl Quorum {
    /// Refuses a preset that is not in the configuration.
    pub(super) fn known_preset(&self, request: &Request) -> Result<(), Error> {
        let Some(name) = &request.preset else { return Ok(()) };
        self.config().preset(name).map(drop).map_err(|mistake| {
            let complaint = Complaint::new("preset", Code::InvalidRequest, mistake.message);
            Error::refused(complaint.in_combination().with(mistake.remedy))
        })
    }

    /// Adds to the complaint the section its value came from, if the configuration filled it in.
    pub(super) fn with_section(&self, it: Complaint, filled: &[String], preset: Option<&str>) -> Complaint {
        if !filled.contains(&it.field) {
            return it;
        }
        let section = self.config().section_of(preset, &it.field);
        let origin = Some(Origin::Configuration { section, file: self.config().file.clone() });
        Complaint { origin, ..it }
    }

    /// The problems with the values of this preset and of the defaults. Missing values are not
    /// reported, since they may be given when the preset is used.
    fn complaints_about(&self, preset: Option<String>) -> Vec<String> {
        let request = Request { preset, ..Request::on("x") };
        let Err(Error::Refused(complaints)) = self.check(&request) else { return Vec::new() };
        complaints.into_iter().filter_map(|it| self.in_file(it)).collect()
    }

    /// A complaint about a value of the file, under its name there.
    fn in_file(&self, complaint: Complaint) -> Option<String> {
        let Some(Origin::Configuration { section, .. }) = complaint.origin else { return None };
        let key = self.config().long_of(&complaint.field);
        Some(format!("{section}.{key}: {}", complaint.message))
    }
}
