//! Watches a discussion live: counts the pieces of text and prints every finished turn.

use futures::StreamExt;
use quorum::{
    Error, Quorum, Request, Signal,
    model::{event::Event, id::Tenant},
};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let quorum = Quorum::builder().simulated().build()?;
    let scope = quorum.scope(Tenant::default(), "example");
    let order = scope.check(&Request { rounds: Some(1), ..Request::on("Tabs or spaces?") })?;
    let (_, handle) = scope.start(order).await?;
    let mut signals = std::pin::pin!(handle.signals());
    let mut pieces = 0;
    while let Some(signal) = signals.next().await {
        match signal {
            Signal::Fact { fact, .. } => {
                if let Event::TurnCompleted { turn } = &fact.event {
                    println!("{} ({} ms): {}", turn.participant, turn.duration_ms, turn.text);
                }
            }
            _ => pieces += 1,
        }
    }
    println!("{pieces} other signals, then: {}", handle.finished().await?.outcome().synthesis);
    Ok(())
}
