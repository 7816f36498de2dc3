//! Refuses an order before it starts if a participant's context window is too small for it.

use quorum_core::model::{
    error::{Code, ErrorClass},
    event::{Event, FailedTurn},
    spec::Spec,
};

use super::{dry_run::run_in_windows, stub_voice::PROMPT_TEXT, voices};
use crate::{Complaint, Error, Quorum};

/// The shortest speech that is worth planning for, in words; a word is one token or a little more.
const SHORTEST_SPEECH: u32 = 180;

/// The tokens of two excerpts of the shortest length, which are shown of every participant.
const EXCERPTS: u64 = 512;

impl Quorum {
    /// Runs the order dry with short speeches, and refuses it if a participant could not be shown
    /// enough of them. Large windows need no such run.
    pub(crate) async fn check_windows(&self, order: &Spec) -> Result<(), Error> {
        let services = self.0.engine.services();
        let given = serde_json::to_string(order).map_or(0, |it| it.len() as u64);
        let seats = order.participants.len() as u64;
        let roomy = |thinking: u32| PROMPT_TEXT + u64::from(thinking) + 2 * given + seats * EXCERPTS;
        let small = |window: u64, thinking: u32| window < roomy(thinking);
        let voiced = voices(services, order).into_iter().filter_map(|it| it.1);
        if !voiced.into_iter().any(|voice| small(voice.window, voice.thinking)) {
            return Ok(());
        }
        let speech = " word".repeat(SHORTEST_SPEECH.min(order.manner.max_tokens) as usize);
        let facts = run_in_windows(services, order, speech).await?;
        let unfit = facts.iter().filter_map(|it| match &it.event {
            Event::TurnFailed(failed) if failed.class == ErrorClass::ContextOverflow => Some(failed),
            _ => None,
        });
        let complaints: Vec<Complaint> = unfit.map(|failed| self.too_small(order, failed)).collect();
        if complaints.is_empty() { Ok(()) } else { Err(Error::Refused(complaints)) }
    }

    fn too_small(&self, order: &Spec, failed: &FailedTurn) -> Complaint {
        let FailedTurn { participant, round, message, .. } = failed;
        let of_seat =
            voices(self.0.engine.services(), order).into_iter().find(|it| it.0.name == *participant);
        let window = of_seat.and_then(|it| it.1).map_or(0, |voice| voice.window);
        let message = format!(
            "{participant} has a window of {window} tokens. By round {round} {message}. Use a model with a larger \
             window, fewer participants, or less context"
        );
        Complaint::new("providers", Code::InvalidRequest, message)
    }
}
