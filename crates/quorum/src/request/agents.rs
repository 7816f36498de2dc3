//! Seats agents: reads the profiles that an order names, and applies the order's task and weight.

use std::cell::RefCell;

use quorum_core::model::{excerpt::in_short, participant::Participant};

use crate::{
    agents::{self, Profile, Situation},
    config::nearest,
    request::{
        Request, Seating, Setting,
        bounds::Complaints,
        limits::{AGENT_WEIGHT, LONGEST_NAME},
        seats,
    },
};

/// Assigns a seat to each, with the agents among them made of their profiles. `table` has the seats
/// as written, and the field they were written in.
pub(super) fn seated(
    request: &Request,
    setting: &Setting,
    table: (&[Seating], &str),
    is_simulated: bool,
    wrong: &mut Complaints,
) -> Vec<Participant> {
    let task = wrong.text("task", request.task.as_deref(), LONGEST_NAME);
    let situation = Situation {
        topic: request.known_question.as_ref().unwrap_or(&request.topic),
        task: task.as_deref(),
        has_temperature: request.temperature.is_some(),
        ..Situation::of(setting, is_simulated)
    };
    let profiles: RefCell<Vec<Profile>> = RefCell::default();
    let make = |id: &str| {
        let (seat, profile) = agents::seat(id, &situation)?;
        profiles.borrow_mut().push(profile);
        Ok(seat)
    };
    let mut seats = seats::seated(table.0, table.1, &make, wrong);
    weigh(&mut seats, request, wrong);
    known_task(task.as_deref(), &profiles.into_inner(), &seats, wrong);
    seats
}

/// Drops this field of the request if it is about agents and none takes part. Returns whether it
/// was dropped.
pub(crate) fn leave_out_if_idle(request: &mut Request, field: &str) -> bool {
    if request.participants.iter().flatten().any(Seating::is_agent) {
        return false;
    }
    match field {
        // A weight out of range is a mistake in any case.
        "agentWeight" => request.agent_weight.take_if(|it| AGENT_WEIGHT.contains(it)).is_some(),
        "task" => request.task.take().is_some(),
        _ => false,
    }
}

/// Gives every agent the weight of the order.
fn weigh(seats: &mut [Participant], request: &Request, wrong: &mut Complaints) {
    let Some(given) = request.agent_weight else { return };
    let weight = wrong.within("agentWeight", request.agent_weight, 1.0, AGENT_WEIGHT);
    let mut agents = seats.iter_mut().filter(|it| it.agent.is_some()).peekable();
    if agents.peek().is_none() && AGENT_WEIGHT.contains(&given) {
        wrong.clash("agentWeight", "applies only to agents, and none takes part; leave this out");
    }
    agents.for_each(|it| it.weight = weight);
}

/// Refuses a task that none of the agents knows.
fn known_task(task: Option<&str>, profiles: &[Profile], seats: &[Participant], wrong: &mut Complaints) {
    let Some(task) = task else { return };
    if seats.iter().all(|it| it.agent.is_none()) {
        wrong.clash("task", "applies only to agents, and none takes part; leave this out");
        return;
    }
    let known: Vec<&str> = profiles.iter().flat_map(Profile::tasks).collect();
    if known.contains(&task) {
        return;
    }
    let meant = match nearest(task, known.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if known.is_empty() => "the agents have no tasks".to_owned(),
        None => format!("their tasks are {}", known.join(", ")),
    };
    wrong.clash("task", format!("no agent here has the task {}; {meant}", in_short(task)));
}
