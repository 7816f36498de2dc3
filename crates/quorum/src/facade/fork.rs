//! Forks: continue a past discussion in another way and pay only for what is new.

use std::collections::BTreeMap;

use quorum_core::{
    engine::handle::Handle,
    model::{
        error::{Code, Refusal},
        event,
        id::{DiscussionId, Step},
        participant::{Participant, Role, not_a_participant},
        spec::Spec,
    },
    registry::Registry,
    seams::{Created, Queueing, StoreError},
};
use serde_json::Value;

use crate::{
    Discussion, Error, OrderKey, Plan, Quorum, Request, Scope, Started,
    request::{
        Seating,
        again::{changed, kept},
        place_of,
        settings::{names, role_options},
    },
};

/// The step at which a fork branches off, and its changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forking {
    /// The step up to which, inclusive, the past answers are kept.
    pub at: String,
    /// Participants that leave.
    pub without: Vec<String>,
    /// Further changes. A newcomer that gets a role through an option takes the seat of the
    /// participant that had it.
    pub changes: Request,
}

impl Quorum {
    /// The point where the fork branches off, and the spec from there on.
    pub(super) async fn forked(
        &self,
        id: DiscussionId,
        forking: &Forking,
    ) -> Result<(event::Fork, Spec), Error> {
        let past = self.state(id).await?;
        let registry = self.registry();
        let changes = changes(&past.spec, forking, registry).map_err(Error::refused)?;
        let looks_up = [("recall", changes.recall.is_some()), ("follows", changes.follows.is_some())];
        if let Some((field, _)) = looks_up.iter().find(|it| it.1) {
            let message = "a fork shows what its original shows of past discussions; leave this out";
            return Err(Error::refused(Refusal::new(field, Code::InvalidRequest, message)));
        }
        let request = changed(&Request::of(&past.spec, registry), &changes, registry);
        let spec = self.check_filled(&request).map_err(Error::Refused)?;
        let (at, tenant) = (Step::from(forking.at.trim()), past.spec.tenant.clone());
        // A fork shows what its original shows: nothing is looked up again.
        let (recall, follows) = (past.spec.recall.clone(), past.spec.follows.clone());
        let (recalled, account) = (past.spec.recalled.clone(), past.spec.account.clone());
        // It weighs votes as its original did.
        let (graded, known_voices) = (past.spec.graded, past.spec.known_voices.clone());
        let spec = Spec { tenant, account, recall, follows, recalled, graded, known_voices, ..spec };
        if spec == *past.spec && past.turns.iter().any(|turn| turn.step == at) {
            let message = "nothing is changed, so every answer would be the same; change something, \
                           or start over with the same request";
            return Err(Error::refused(Refusal::new("changes", Code::InvalidRequest, message)));
        }
        Ok((event::Fork { of: id, at }, spec))
    }
}

impl Scope {
    /// Plans a fork without asking any model: how many answers are kept, and what the rest may
    /// cost.
    pub(super) async fn plan_fork(&self, of: DiscussionId, forking: &Forking) -> Result<Plan, Error> {
        let (fork, spec) = self.quorum.forked(of, forking).await?;
        let lengths = self.past_lengths(&spec).await?;
        self.with_caps(self.quorum.plan_fork(&fork, &spec, &lengths).await?).await
    }

    /// Forks a past discussion. Its answers are reused as long as the question is the same.
    pub(super) async fn fork(
        &self,
        of: DiscussionId,
        forking: &Forking,
    ) -> Result<(Discussion, Handle), Error> {
        self.quorum.switched_on()?;
        let (fork, spec) = self.quorum.forked(of, forking).await?;
        self.fork_as(DiscussionId::fresh(), fork, spec).await
    }

    /// The same; the same key with the same fork returns the same discussion.
    pub(super) async fn fork_once(
        &self,
        of: DiscussionId,
        forking: &Forking,
        key: Option<&OrderKey>,
    ) -> Result<Started, Error> {
        self.quorum.switched_on()?;
        let (fork, spec) = self.quorum.forked(of, forking).await?;
        let (id, began) = self.place(key).await?;
        let _locked = self.quorum.0.locks.lock(id).await;
        if began && let Ok(discussion) = self.discussion(id).await {
            return Ok(Started { discussion, handle: None });
        }
        match self.fork_as(id, fork, spec).await {
            Ok((discussion, handle)) => Ok(Started { discussion, handle: Some(handle) }),
            // Another process was faster with the same fork.
            Err(Error::Store(StoreError::Held { .. })) if key.is_some() => {
                Ok(Started { discussion: self.named(id), handle: None })
            }
            Err(error) => Err(error),
        }
    }

    /// Records a fork for any node to run, once per key; at most `most` orders of a tenant may wait
    /// at the same time.
    pub(super) async fn queue_fork(
        &self,
        (fork, spec): (event::Fork, Spec),
        key: Option<&OrderKey>,
        most: u64,
    ) -> Result<(Discussion, Created), Error> {
        self.quorum.switched_on()?;
        let (id, began) = self.place(key).await?;
        let _locked = self.quorum.0.locks.lock(id).await;
        if began && let Ok(discussion) = self.discussion(id).await {
            return Ok((discussion, Created::Existed));
        }
        self.quorum.check_windows(&spec).await?;
        let queueing = Queueing { most: Some(most), ..Queueing::default() };
        let queued = self.quorum.0.engine.enqueue_fork(id, fork, self.ordered(spec), queueing).await;
        Ok((self.named(id), queued?))
    }

    /// Starts a checked order that takes over the answers of another discussion up to a step. The
    /// same key with the same order returns the same discussion.
    pub(crate) async fn branch_once(
        &self,
        fork: event::Fork,
        spec: Spec,
        key: &OrderKey,
    ) -> Result<Started, Error> {
        self.quorum.switched_on()?;
        let (id, began) = self.place(Some(key)).await?;
        let _locked = self.quorum.0.locks.lock(id).await;
        if began && let Ok(discussion) = self.discussion(id).await {
            return Ok(Started { discussion, handle: None });
        }
        let spec = self.ready(spec).await?;
        let engine = &self.quorum.0.engine;
        engine.fork_as(id, fork, self.ordered(spec)).await?;
        let discussion = self.named(id);
        discussion.log("start", "done").await;
        Ok(Started { discussion, handle: Some(engine.run(id).await?) })
    }

    pub(super) async fn fork_as(
        &self,
        id: DiscussionId,
        fork: event::Fork,
        spec: Spec,
    ) -> Result<(Discussion, Handle), Error> {
        self.quorum.check_windows(&spec).await?;
        let engine = &self.quorum.0.engine;
        Ok((self.named(id), engine.begin_fork(id, fork, self.ordered(spec)).await?))
    }
}

/// Converts the fork's changes to those of a request.
fn changes(past: &Spec, forking: &Forking, registry: &Registry) -> Result<Request, Refusal> {
    let mut changes = forking.changes.clone();
    let mut table: Vec<(String, Seating)> =
        past.participants.iter().map(|it| (it.name.clone(), kept(it))).collect();
    for name in &forking.without {
        let seat = seat_named(past, name);
        let place = table.iter().position(|(it, _)| seat.is_some_and(|seat| seat.name == *it));
        table.remove(place.ok_or_else(|| stranger(past, "without", name))?);
    }
    let mut roles_change = false;
    for (declared, role) in role_options(registry) {
        let Some(value) = changes.settings.get(declared.name) else { continue };
        let is_list = value.is_array();
        let named = names(value).into_iter();
        let named: Vec<String> =
            named.map(|name| seat_named(past, &name).map_or(name, |seat| seat.name.clone())).collect();
        let Some(first) = named.first() else { continue };
        let before = past.participants.iter().filter(|it| it.role.name() == role);
        if before.clone().map(|it| &it.name).eq(&named) {
            // The same holders as before are no change.
            changes.settings.remove(declared.name);
            continue;
        }
        let mut vacant: Vec<&str> =
            before.map(|it| it.name.as_str()).filter(|it| !named.iter().any(|name| name == it)).collect();
        if vacant.is_empty() && !past.participants.iter().any(|it| it.role.name() == role) {
            return Err(stranger(past, declared.name, first));
        }
        for name in named.iter().filter(|it| past.seat(it).is_none()) {
            let newcomer = (name.clone(), Seating::Written(name.clone()));
            let place = vacant.first().and_then(|seat| table.iter().position(|(it, _)| it == seat));
            match place {
                Some(place) => table[place] = newcomer,
                None => table.push(newcomer),
            }
            vacant.drain(..vacant.len().min(1));
        }
        // A participant that shared the role and is not named any more leaves.
        let several = past.participants.iter().filter(|it| it.role.name() == role).count() > 1;
        table.retain(|(name, _)| !(several && vacant.contains(&name.as_str())));
        changes.roles = Some(roles_without(past, role, &named));
        let named = if is_list { Value::from(named) } else { Value::from(first.clone()) };
        changes.settings.insert(declared.name.to_owned(), named);
        roles_change = true;
    }
    if table.len() != past.participants.len() || roles_change {
        changes.participants = Some(table.into_iter().map(|(_, seat)| seat).collect());
    }
    Ok(changes)
}

/// The roles of all participants but the holders of this role and those who get it.
fn roles_without(past: &Spec, role: &str, named: &[String]) -> BTreeMap<String, String> {
    let others = past.participants.iter().filter(|it| it.role.name() != role && !named.contains(&it.name));
    let cast = others.filter(|it| it.role != Role::SPEAKER);
    cast.map(|it| (it.name.clone(), it.role.to_string())).collect()
}

/// The seat with this name, or with another name of its provider.
fn seat_named<'s>(past: &'s Spec, name: &str) -> Option<&'s Participant> {
    place_of(&past.participants, name).map(|place| &past.participants[place])
}

fn stranger(past: &Spec, field: &str, name: &str) -> Refusal {
    let names = past.participants.iter().map(|it| it.name.as_str());
    Refusal::new(field, Code::InvalidRequest, not_a_participant(name, names))
}
