//! Asks a simulated panel one question and prints its answer.

use quorum::{Error, Quorum, Request, model::id::Tenant};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let quorum = Quorum::builder().simulated().build()?;
    let scope = quorum.scope(Tenant::default(), "example");
    let order = scope.check(&Request::on("Should a team of five split its monolith?"))?;
    let (_, handle) = scope.start(order).await?;
    println!("{}", handle.finished().await?.outcome().synthesis);
    Ok(())
}
