//! The labels under which a participant sees the others, and the nonce of its fences.

use std::sync::Arc;

use uuid::Uuid;

use crate::{
    floor::{Floor, ask::Hears, group::Asked},
    model::{labels::lots_of, mask::Mask, participant::Participant},
};

/// The labels of one question.
#[derive(Default)]
pub(crate) struct Labels {
    pub(crate) mask: Arc<Mask>,
    /// Whether they were drawn for this question alone.
    pub(crate) own: bool,
}

impl Floor {
    /// Draws new labels for one request to `who`, in this display order, so that a judge can't
    /// recognise a debater from an earlier request. They are derived from the panel's labels, so a
    /// replay draws the same.
    #[must_use]
    pub fn relabelled(&self, who: &Participant, purpose: &str, order: &[Participant]) -> Arc<Mask> {
        let state = &self.record.state;
        let order: Vec<String> = order.iter().map(|it| it.name.clone()).collect();
        if state.panel_labels.is_empty() {
            let place =
                |it: &&Participant| order.iter().position(|name| *name == it.name).unwrap_or(usize::MAX);
            let mut shown: Vec<&Participant> = state.spec.participants.iter().collect();
            shown.sort_by_key(place);
            return Arc::new(Mask::names(shown));
        }
        let drawn: Vec<&str> = state.panel_labels.iter().map(|it| it.0.as_str()).collect();
        let seed = Uuid::new_v5(&Uuid::nil(), drawn.join(" ").as_bytes()).as_u64_pair().0;
        let step = self.step(who).purpose(purpose);
        Arc::new(Mask::drawn(&state.spec, &state.models, &order, lots_of(seed, step.as_str())))
    }

    /// The labels of the panel.
    #[must_use]
    pub fn mask(&self) -> &Arc<Mask> {
        self.now.mask.get_or_init(|| {
            let state = &self.record.state;
            if state.panel_labels.is_empty() {
                return Arc::new(Mask::names(&state.spec.participants));
            }
            Arc::new(Mask::of(&state.spec, &state.models, &state.panel_labels, &[]))
        })
    }

    /// The labels of this question: a writer gets new ones.
    pub(crate) fn labels_for(&self, asked: &Asked) -> Labels {
        match &asked.ask.mask {
            Some(mask) => Labels { mask: mask.clone(), own: true },
            None if asked.ask.hears == Hears::ForSynthesis => {
                Labels { mask: self.relabelled(&asked.who, "writing", &[]), own: true }
            }
            None => Labels { mask: self.mask().clone(), own: false },
        }
    }

    /// The nonce that fences what others said in all requests to this participant. No other
    /// participant ever sees it.
    pub(crate) fn nonce_for(&self, name: &str) -> String {
        let known = &self.record.state.nonces;
        if let Some(nonce) = known.get(name) {
            return nonce.clone();
        }
        loop {
            let drawn = self.services.clock.draw();
            let nonce = format!("{:08x}", (drawn ^ (drawn >> 32)) as u32);
            if !known.values().any(|it| *it == nonce) {
                return nonce;
            }
        }
    }
}
