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
    agents::{self, Situation},
    request::{
        Seating, Voicing,
        again::{changed, kept},
        agent_complaint, available_provider,
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
        let (past, changes) = self.quorum.with_profiles(&past.spec, changes)?;
        let (changes, replaced) = self.quorum.with_replacements(&past, changes);
        // Options to vote on belong to their question, and so does what was recalled for it.
        let source =
            Request { voting_options: None, recall: None, ..Request::of(&past, self.quorum.registry()) };
        let (spec, pattern) = self.quorum.next(&source, &changes).map_err(|complaints| {
            let from_source = |it: Complaint| Complaint { origin: Some(Origin::Past(id)), ..it };
            Error::Refused(complaints.into_iter().map(from_source).collect())
        })?;
        let follows = Some(Follows { id, replaced, pattern });
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

/// Whether the changes have a panel of their own.
fn names_panel(changes: &Request) -> bool {
    changes.providers.is_some() || changes.participants.is_some()
}

/// The longest name of a session that is made for a follow-up question.
const LONGEST_NAME: usize = 60;

impl Quorum {
    /// The past order with these changes, checked. A pattern that votes on options gives way to the
    /// usual one where the next question has none; its name is returned then.
    fn next(&self, past: &Request, changes: &Request) -> Result<(Spec, Option<String>), Vec<Complaint>> {
        let checked = |changes: &Request| {
            self.check_filled(&Request { follows: None, ..changed(past, changes, self.registry()) })
        };
        let wrong = match checked(changes) {
            Ok(spec) => return Ok((spec, None)),
            Err(wrong) => wrong,
        };
        let lacks_options =
            changes.voting_options.is_none() && wrong.iter().any(|it| it.field == "votingOptions");
        let usual = self.registry().patterns().first().map(|it| it.name.to_owned());
        if !lacks_options || changes.pattern.is_some() || past.pattern == usual {
            return Err(wrong);
        }
        Ok((checked(&Request { pattern: usual, ..changes.clone() })?, past.pattern.clone()))
    }

    /// The past order with its agents as their profiles are now and with the abilities that the
    /// next question needs, and the changes without a task that is known to have been heeded. An
    /// agent without a profile stays as it was.
    fn with_profiles(&self, past: &Spec, changes: Request) -> Result<(Spec, Request), Error> {
        let mut past = past.clone();
        if names_panel(&changes) {
            return Ok((past, changes));
        }
        let setting = &self.0.setting;
        let is_simulated = past.simulation.is_some() || changes.wants_simulation();
        let mut tasks: Vec<String> = Vec::new();
        for place in &mut past.participants {
            let Some(agent) = place.agent.clone() else { continue };
            let situation = Situation {
                topic: &changes.topic,
                task: changes.task.as_deref(),
                has_temperature: changes.temperature.is_some(),
                ..Situation::of(setting, is_simulated || setting.voicing == Voicing::Simulated)
            };
            let again = agents::seat_again(place, &agent, &situation);
            if let Some((seat, profile)) =
                again.map_err(|error| Error::refused(agent_complaint("participants", &error)))?
            {
                *place = seat;
                tasks.extend(profile.tasks().map(str::to_owned));
            }
        }
        let task = changes.task.clone().filter(|it| !tasks.contains(it));
        Ok((past, Request { task, ..changes }))
    }

    /// The changes with a panel in which other models sit in the place of those that are not
    /// available any more.
    fn with_replacements(&self, past: &Spec, changes: Request) -> (Request, Vec<Replaced>) {
        let setting = &self.0.setting;
        if past.simulation.is_some() || changes.wants_simulation() || names_panel(&changes) {
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
