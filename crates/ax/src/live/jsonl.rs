//! Writes the events of a running discussion to stdout as lines of JSON: recorded events in order,
//! and pieces of text as they arrive.

use std::time::{SystemTime, UNIX_EPOCH};

use quorum::{
    Discussion, Piece, Registry, Signal,
    export::jsonl,
    model::{
        event::Fact,
        id::{DiscussionId, Seq},
    },
    seeds::events::Announcer,
};

use crate::render::write;

/// Writes the events of one discussion. Events that a slow reader missed are read from the record.
pub(crate) struct JsonLines {
    id: DiscussionId,
    announcer: Announcer,
    written: Seq,
    has_header: bool,
}

impl JsonLines {
    pub(crate) fn of(id: DiscussionId, registry: &Registry) -> Self {
        let announcer = Announcer::new(id, registry.clone());
        JsonLines { id, announcer, written: Seq::START, has_header: false }
    }

    /// Writes the line of a signal. Sub-discussions are left out: they have their own numbering.
    pub(crate) async fn write_signal(
        &mut self,
        discussion: &Discussion,
        signal: &Signal,
    ) -> anyhow::Result<()> {
        self.write_header()?;
        match signal {
            Signal::Fact { discussion: of, fact } if *of == self.id => {
                if fact.seq > self.written.next() {
                    self.write_up_to(discussion, fact.seq).await?;
                }
                self.write_fact(fact)
            }
            Signal::Piece(piece) if piece.discussion == self.id && is_shown(piece) => {
                let chunk = self.announcer.chunk(&piece.step, &piece.participant, now_ms(), &piece.text);
                chunk.map_or(Ok(()), |it| write_line(&jsonl::line(&it)))
            }
            Signal::Fact { .. } | Signal::Piece(_) | Signal::Trouble(_) => Ok(()),
        }
    }

    /// Writes all recorded events that are not written yet.
    pub(crate) async fn catch_up(&mut self, discussion: &Discussion) -> anyhow::Result<()> {
        self.write_header()?;
        self.write_up_to(discussion, Seq(u64::MAX)).await
    }

    fn write_header(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.has_header, true) { Ok(()) } else { write_line(&jsonl::header()) }
    }

    async fn write_up_to(&mut self, discussion: &Discussion, last: Seq) -> anyhow::Result<()> {
        let facts = discussion.facts(self.written).await?;
        facts.iter().filter(|fact| fact.seq <= last).try_for_each(|fact| self.write_fact(fact))
    }

    fn write_fact(&mut self, fact: &Fact) -> anyhow::Result<()> {
        if fact.seq <= self.written {
            return Ok(());
        }
        self.written = fact.seq;
        self.announcer.announce(fact).map_or(Ok(()), |it| write_line(&jsonl::line(&it)))
    }
}

/// Whether people may see it: text of a turn, and not the data of a form.
fn is_shown(piece: &Piece) -> bool {
    !piece.step.is_aside() && !piece.text.is_empty()
}

fn write_line(line: &str) -> anyhow::Result<()> {
    write(&format!("{line}\n"))
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
