//! Tests of the offer of a sub-discussion to a model without tools: it changes only the last
//! message, so that the vendor's cache still knows everything before.

use quorum_core::call::Call;
use quorum_providers::wire::Quirks;
use quorum_testkit::{
    conformance::provider::{
        Seat,
        fixture::{KEY, call, receive, speaking},
    },
    server::Asked,
};

use crate::{endpoint, voice_at};

/// The request to a model without tools, as the vendor reads it.
async fn asked(wire: &str, path: &str, may_convene: bool) -> Asked {
    let server = speaking().start();
    let seat = Seat { url: &server.url(), key: Some(KEY), first_ms: 30_000, idle_ms: 30_000 };
    let quirks = Quirks { tools: false, ..Quirks::default() };
    let received =
        receive(&voice_at(endpoint(wire, path, &seat), &seat, quirks), Call { may_convene, ..call() }).await;
    assert_eq!(received.error, None, "{wire}");
    server.requests()[0].asked().unwrap()
}

#[tokio::test]
async fn an_offer_to_a_model_without_tools_leaves_its_system_text_alone() {
    for (wire, path) in [("anthropic", "/v1"), ("gemini", "/v1beta"), ("ollama", ""), ("openai-chat", "/v1")]
    {
        let (plain, offered) = (asked(wire, path, false).await, asked(wire, path, true).await);
        assert!(!offered.offers_discuss, "{wire}");
        assert_eq!(offered.system, plain.system, "{wire}");
        let (last, before) = offered.messages.split_last().unwrap();
        let (plain_last, plain_before) = plain.messages.split_last().unwrap();
        assert_eq!(before, plain_before, "{wire}");
        let (said, task) = plain_last.1.split_at(plain_last.1.find("Who is right?").unwrap());
        let offer = last.1.strip_prefix(said).and_then(|it| it.strip_suffix(task));
        let offer = offer.unwrap_or_else(|| panic!("{wire}: {}", last.1));
        assert!(offer.contains("<discuss-7d5e>") && offer.ends_with("asked again.\n\n"), "{wire}: {offer}");
    }
}
