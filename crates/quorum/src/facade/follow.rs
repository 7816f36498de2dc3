//! Follow-up questions: the panel of a discussion that is over goes on with another question.

use std::collections::BTreeMap;

use quorum_core::model::{
    error::Code,
    participant::Participant,
    recall::{Follows, Replaced},
    spec::Spec,
};

use crate::{
    Complaint, Error, Origin, Quorum, Request, Scope,
    request::{
        Seating,
        again::{changed, kept},
        available_provider,
    },
};

impl Scope {
    /// The order of the discussion that is followed with this question and these changes, checked.
    pub(super) async fn following(&self, source: &str, request: &Request) -> Result<Spec, Error> {
        self.quorum.known_preset(request)?;
        // Without one, the question of the source would be asked again.
        if request.topic.trim().is_empty() {
            let message = "is empty; give the next question";
            return Err(Error::refused(Complaint::new("topic", Code::InvalidRequest, message)));
        }
        let discussion = self.named_in("follows", source).await?;
        let (id, past) = (discussion.id(), discussion.state().await?);
        let changes = self.quorum.config().fill_from_preset(request);
        let (changes, replaced) = self.quorum.with_replacements(&past.spec, changes);
        // Options to vote on belong to their question, and so does what was recalled for it.
        let source =
            Request { voting_options: None, recall: None, ..Request::of(&past.spec, self.quorum.registry()) };
        let order = Request { follows: None, ..changed(&source, &changes, self.quorum.registry()) };
        let from_source = |it: Complaint| Complaint { origin: Some(Origin::Past(id)), ..it };
        let refused = |all: Vec<Complaint>| Error::Refused(all.into_iter().map(from_source).collect());
        let spec = self.quorum.check_filled(&order).map_err(refused)?;
        let follows = Some(Follows { id, replaced });
        Ok(Spec { tenant: self.tenant.clone(), follows, ..spec })
    }

    /// The order in a session: that of the discussion it follows, or a new one named after it.
    pub(super) async fn with_session(&self, spec: Spec) -> Result<Spec, Error> {
        let (Some(follows), None) = (&spec.follows, spec.session) else { return Ok(spec) };
        let source = self.quorum.state(follows.id).await?;
        let name: String = source.spec.topic.chars().take(LONGEST_NAME).collect();
        let session = self.create_session(name.trim()).await?.session_id;
        Ok(Spec { session: Some(session), ..spec })
    }
}

/// The longest name of a session that is made for a follow-up question.
const LONGEST_NAME: usize = 60;

impl Quorum {
    /// The changes with a panel in which other models sit in the place of those that are not
    /// available any more.
    fn with_replacements(&self, past: &Spec, changes: Request) -> (Request, Vec<Replaced>) {
        let setting = &self.0.setting;
        let names_its_panel = changes.providers.is_some() || changes.participants.is_some();
        if past.simulation.is_some() || changes.wants_simulation() || names_its_panel {
            return (changes, Vec::new());
        }
        let is_gone = |it: &&Participant| !it.is_person() && available_provider(setting, it).is_none();
        let speaking: Vec<&str> =
            past.participants.iter().filter_map(|it| available_provider(setting, it)).collect();
        let is_free = |name: &&String| !speaking.contains(&name.as_str());
        let mut free = setting.available.iter().filter(is_free).chain(setting.available.iter().cycle());
        let gone = past.participants.iter().filter(is_gone);
        let replaced: Vec<Replaced> =
            gone.zip(&mut free).map(|(it, by)| Replaced { seat: it.name.clone(), by: by.clone() }).collect();
        if replaced.is_empty() {
            return (changes, replaced);
        }
        let place = |it: &Participant| replaced.iter().find(|other| other.seat == it.name);
        let seat =
            |it: &Participant| place(it).map_or_else(|| kept(it), |it| Seating::Written(it.by.clone()));
        let participants = Some(past.participants.iter().map(seat).collect());
        let renamed = |name: &String| {
            replaced.iter().find(|it| it.seat == *name).map_or_else(|| name.clone(), |it| it.by.clone())
        };
        let roles = Request::of(past, self.registry()).roles;
        let roles = roles.map(|it| -> BTreeMap<String, String> {
            it.iter().map(|(name, role)| (renamed(name), role.clone())).collect()
        });
        (Request { participants, roles: changes.roles.clone().or(roles), ..changes }, replaced)
    }
}
