//! The events of a running discussion as lines of JSON on stdout: all that is recorded, in order, and text as it comes.

use std::time::{SystemTime, UNIX_EPOCH};

use quorum::{
    Quorum, Signal,
    export::jsonl,
    model::{
        announcement::Announcer,
        event::Fact,
        id::{DiscussionId, Seq},
    },
};

use crate::render::write;

/// Tells what happens in one discussion. What a slow reader missed is taken from the record.
pub(crate) struct Telling {
    id: DiscussionId,
    announcer: Announcer,
    told: Seq,
    /// Whether it was said what the lines are.
    begun: bool,
}

impl Telling {
    pub(crate) fn of(id: DiscussionId) -> Self {
        Telling { id, announcer: Announcer::new(id), told: Seq::START, begun: false }
    }

    /// Tells what this signal means. Sub-discussions have numbers, and lines, of their own.
    pub(crate) async fn hear(&mut self, quorum: &Quorum, signal: &Signal) -> anyhow::Result<()> {
        self.begin()?;
        match signal {
            Signal::Fact { discussion, fact } if *discussion == self.id => {
                if fact.seq > self.told.next() {
                    self.tell_up_to(quorum, fact.seq).await?;
                }
                self.tell(fact)
            }
            Signal::Piece(piece) if piece.discussion == self.id && !piece.step.is_aside() => {
                say(&jsonl::line(&self.announcer.chunk(&piece.participant, now_ms(), &piece.text)))
            }
            Signal::Fact { .. } | Signal::Piece(_) | Signal::Trouble(_) => Ok(()),
        }
    }

    /// Tells everything that is recorded.
    pub(crate) async fn catch_up(&mut self, quorum: &Quorum) -> anyhow::Result<()> {
        self.begin()?;
        self.tell_up_to(quorum, Seq(u64::MAX)).await
    }

    fn begin(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.begun, true) { Ok(()) } else { say(&jsonl::header()) }
    }

    async fn tell_up_to(&mut self, quorum: &Quorum, last: Seq) -> anyhow::Result<()> {
        let facts = quorum.facts(self.id, self.told).await?;
        facts.iter().filter(|fact| fact.seq <= last).try_for_each(|fact| self.tell(fact))
    }

    fn tell(&mut self, fact: &Fact) -> anyhow::Result<()> {
        if fact.seq <= self.told {
            return Ok(());
        }
        self.told = fact.seq;
        self.announcer.announce(fact).map_or(Ok(()), |it| say(&jsonl::line(&it)))
    }
}

fn say(line: &str) -> anyhow::Result<()> {
    write(&format!("{line}\n"))
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
