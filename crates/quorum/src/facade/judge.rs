//! A word about the judge's seat: who judges now, and who goes on once that is said (D13).

use quorum_core::model::{command::Command, id::DiscussionId, vacancy::Ruling};

use crate::{Error, Quorum, Steered};

impl Quorum {
    /// Says what becomes of the seat of a judge who failed and, if nobody runs the discussion, goes on with it here. Refused with
    /// nothing changed when that is not awaited, or was said already, and when the one named can't judge.
    pub async fn judge(&self, id: DiscussionId, ruling: Ruling) -> Result<Steered, Error> {
        let word = self.engine.send(id, Command::Judge(ruling)).await?;
        self.go_on(id, word).await
    }
}
