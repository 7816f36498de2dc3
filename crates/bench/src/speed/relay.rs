//! The floor of a server: asks the vendor for each client and passes the stream on as it is.

use anyhow::Result;
use axum::{Router, body::Body, http::header::CONTENT_TYPE, response::IntoResponse, routing::get};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::net::TcpListener;

use super::floor::FloorClient;

/// Prints its address, and relays until the process is ended.
pub(super) async fn run(vendor: String) -> Result<()> {
    let client = FloorClient::new(&vendor);
    let routes = Router::new().route("/{stream}", get(async move || relayed(client)));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    Ok(axum::serve(listener, routes).await?)
}

/// The head of the response is sent at once, as our server does.
fn relayed(client: FloorClient) -> impl IntoResponse {
    let asked = async move {
        let response = client.send("Go on").await?;
        anyhow::Ok(response.bytes_stream().map_err(anyhow::Error::from))
    };
    let stream = stream::once(asked).try_flatten().map(|it| it.map_err(|error| error.to_string()));
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream))
}
