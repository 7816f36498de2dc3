//! A response as a sequence of steps: what is sent, when it waits, and how it ends.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    time::sleep,
};

use super::http;

/// The size in bytes of the writes in which repeated pieces are sent.
const WRITE_SIZE: usize = 64 << 10;

/// One step of a response.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    /// Status and headers.
    Head,
    /// Some of the body.
    Send(Vec<u8>),
    /// The same piece of the body many times.
    Repeat { bytes: Vec<u8>, times: u64 },
    /// Flush.
    Flush,
    /// Wait.
    Wait(Duration),
    /// Hang.
    Hang,
}

/// How a response ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    /// Regularly; the connection may be reused.
    Proper,
    /// The connection is closed.
    Fin,
    /// The connection is reset.
    Reset,
}

/// A whole response.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Play {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    /// Whether the body is chunked, since its length is unknown in advance.
    pub(super) is_chunked: bool,
    pub(super) acts: Vec<Act>,
    pub(super) close: Close,
    /// Whether it has a fault.
    pub(super) is_spoilt: bool,
}

/// Sends the response. Bytes between two waits are sent in one write.
pub(super) async fn play(writer: &mut (impl AsyncWrite + Unpin), play: &Play) -> io::Result<()> {
    let mut out = Vec::new();
    for act in &play.acts {
        match act {
            Act::Head => http::write_head(&mut out, play.status, &play.headers),
            Act::Send(bytes) => play.write(&mut out, bytes),
            Act::Repeat { bytes, times } => {
                flush(writer, &mut out).await?;
                play.repeat(writer, bytes, *times).await?;
            }
            Act::Flush => flush(writer, &mut out).await?,
            Act::Wait(time) => {
                flush(writer, &mut out).await?;
                sleep(*time).await;
            }
            Act::Hang => {
                flush(writer, &mut out).await?;
                std::future::pending::<()>().await;
            }
        }
    }
    if play.is_chunked && play.close == Close::Proper {
        out.extend_from_slice(http::LAST_CHUNK);
    }
    flush(writer, &mut out).await
}

impl Play {
    /// The length of the body; repeated pieces count once.
    pub(super) fn length(&self) -> usize {
        let bytes = self.acts.iter().map(|act| match act {
            Act::Send(bytes) | Act::Repeat { bytes, .. } => bytes.len(),
            Act::Head | Act::Flush | Act::Wait(_) | Act::Hang => 0,
        });
        bytes.sum()
    }

    fn write(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        if self.is_chunked { http::write_chunk(out, bytes) } else { out.extend_from_slice(bytes) }
    }

    async fn repeat(
        &self,
        writer: &mut (impl AsyncWrite + Unpin),
        bytes: &[u8],
        mut times: u64,
    ) -> io::Result<()> {
        let mut one = Vec::new();
        self.write(&mut one, bytes);
        let together = (WRITE_SIZE / one.len().max(1)).max(1) as u64;
        let many = one.repeat(together.min(times) as usize);
        while times > 0 {
            let now = together.min(times);
            writer.write_all(&many[..one.len() * now as usize]).await?;
            times -= now;
        }
        Ok(())
    }
}

async fn flush(writer: &mut (impl AsyncWrite + Unpin), out: &mut Vec<u8>) -> io::Result<()> {
    if !out.is_empty() {
        writer.write_all(out).await?;
        out.clear();
    }
    Ok(())
}
