//! Reads the expected course of a discussion from the facts of its dry run.

use quorum_core::model::{
    event::{Event, Fact},
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
                course.push(PlannedPhase { round: Some(*round), phase: phase.clone(), asked: Vec::new() });
                together = false;
            }
            Event::LifecycleChanged { to: Lifecycle::Completing, .. } => {
                course.push(PlannedPhase { round: None, phase: "deciding".to_owned(), asked: Vec::new() });
                together = false;
            }
            Event::CallPlaced(placed) => {
                ask(&mut course, &placed.participant, together);
                together = true;
            }
            Event::PersonAwaited(awaited) => {
                ask(&mut course, &awaited.participant, together);
                together = true;
            }
            // In a fork: an answer that is kept.
            Event::TurnCompleted { turn } if turn.reused => {
                ask(&mut course, &turn.participant, together);
                together = true;
            }
            Event::TurnCompleted { .. } => together = false,
            _ => {}
        }
    }
    course.retain(|phase| !phase.asked.is_empty());
    course
}

fn ask(course: &mut [PlannedPhase], who: &str, together: bool) {
    let Some(phase) = course.last_mut() else { return };
    match phase.asked.last_mut().filter(|_| together) {
        Some(group) => group.push(who.to_owned()),
        None => phase.asked.push(vec![who.to_owned()]),
    }
}
