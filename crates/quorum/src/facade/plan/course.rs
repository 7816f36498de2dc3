//! Reads the expected course of a discussion from the facts of its dry run.

use quorum_core::model::{
    event::{Event, Fact},
    id::Step,
    lifecycle::Lifecycle,
};

use super::PlannedPhase;

/// The phases in order, and who is asked in each.
pub(super) fn course(facts: &[Fact]) -> Vec<PlannedPhase> {
    let mut course: Vec<PlannedPhase> = Vec::new();
    let mut together = false;
    for fact in facts {
        match &fact.event {
            Event::PhaseEntered { phase, round } => {
                course.push(phase_of(Some(*round), phase));
                together = false;
            }
            Event::LifecycleChanged { to: Lifecycle::Completing, .. } => {
                course.push(phase_of(None, "deciding"));
                together = false;
            }
            Event::CallPlaced(placed) => {
                ask(&mut course, &placed.participant, fact.step.as_ref(), together);
                together = true;
            }
            Event::PersonAwaited(awaited) => {
                ask(&mut course, &awaited.participant, fact.step.as_ref(), together);
                together = true;
            }
            // In a fork: an answer that is kept.
            Event::TurnCompleted { turn } if turn.reused => {
                ask(&mut course, &turn.participant, Some(&turn.step), together);
                together = true;
            }
            Event::TurnCompleted { .. } => together = false,
            _ => {}
        }
    }
    course.retain(|phase| !phase.asked.is_empty());
    course
}

fn phase_of(round: Option<u32>, phase: &str) -> PlannedPhase {
    PlannedPhase { round, phase: phase.to_owned(), asked: Vec::new(), purposes: Vec::new() }
}

fn ask(course: &mut [PlannedPhase], who: &str, step: Option<&Step>, together: bool) {
    let Some(phase) = course.last_mut() else { return };
    match phase.asked.last_mut().filter(|_| together) {
        Some(group) => group.push(who.to_owned()),
        None => {
            phase.asked.push(vec![who.to_owned()]);
            // After the round, the phase and the participant.
            let purpose = step.map(|it| it.as_str().splitn(4, '/').nth(3).unwrap_or_default());
            phase.purposes.push(purpose.unwrap_or_default().to_owned());
        }
    }
}
