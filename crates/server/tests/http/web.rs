//! The page as served: shells for everyone, files with entity tags, content only for authorized
//! callers (S3, S6, S12).

use std::{collections::BTreeSet, io::Read};

use flate2::read::GzDecoder;
use serde_json::json;

use crate::harness::{ANN, BOB, FAST, TestServer, answered, events, order, slow, tenants};

#[tokio::test]
async fn the_files_of_the_page_are_fetched_once() {
    let server = TestServer::open(FAST).await;
    let page = server.get("/").await.text;
    let files: Vec<&str> = page.split('"').filter(|it| it.starts_with("/assets/")).collect();
    assert!(files.len() > 15, "{files:?}");
    for file in files {
        let first = server.get(file).await;
        let kind = first.headers["content-type"].to_str().unwrap().to_owned();
        let ending = file.rsplit('.').next().unwrap();
        assert!(
            kind.contains(match ending {
                "js" => "javascript",
                other => other,
            }),
            "{file}: {kind}"
        );
        assert_eq!(first.headers["cache-control"], "no-cache");
        let mark = first.headers["etag"].to_str().unwrap();
        let again =
            answered(server.request("GET", file).header("if-none-match", format!("\"x\", {mark}"))).await;
        assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""), "{file}");
        let other = answered(server.request("GET", file).header("if-none-match", "\"x\"")).await;
        assert_eq!(other.text, first.text);
        let strong = mark.trim_start_matches("W/");
        let again = answered(server.request("GET", file).header("if-none-match", strong)).await;
        assert_eq!(again.status, 304, "{file}");
    }
    for path in ["/assets/none.js", "/assets/../lib.rs", "/assets/%2e%2e%2fCargo.toml", "/assets/"] {
        assert_eq!(server.get(path).await.status, 404, "{path}");
    }
}

/// The maximum transfer size of the whole page, in bytes.
const LARGEST_PAGE: usize = 120_000;

#[tokio::test]
async fn the_files_of_the_page_are_compressed_for_browsers_that_can_unpack_them() {
    let server = TestServer::open(FAST).await;
    let page = server.get("/").await.text;
    // The style sheet for pages without scripts is not fetched with the page.
    let files = page.split('"').filter(|it| it.starts_with("/assets/") && !it.ends_with("/read.css"));
    let files: BTreeSet<&str> = files.collect();
    let (mut plain, mut packed) = (0, 0);
    for file in files {
        let whole = server.get(file).await;
        assert!(!whole.headers.contains_key("content-encoding"), "{file}");
        let asked = server.request("GET", file).header("accept-encoding", "br, gzip;q=0.8");
        let answer = asked.send().await.unwrap();
        let named = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(
            (named("content-encoding"), named("vary")),
            ("gzip".to_owned(), "accept-encoding".to_owned())
        );
        assert_eq!(named("etag"), whole.headers["etag"].to_str().unwrap());
        let bytes = answer.bytes().await.unwrap();
        let mut unpacked = String::new();
        GzDecoder::new(&bytes[..]).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, whole.text, "{file}");
        (plain, packed) = (plain + whole.text.len(), packed + bytes.len());
    }
    println!("the page has {plain} bytes, or {packed} compressed");
    assert!(packed <= LARGEST_PAGE, "{packed}");
}

#[tokio::test]
async fn d15_a_finished_discussion_can_be_read_without_scripts() {
    let server = TestServer::open(FAST).await;
    let mut hostile = order();
    hostile["topic"] = json!("</noscript><script>alert(1)</script> & 'tabs'?");
    let id = server.held(&hostile).await;
    let page = server.get(&format!("/d/{id}")).await.text;
    assert!(page.contains("<h2>Synthesis") && page.contains("Round 1"), "{page}");
    assert_eq!(page.matches("</noscript>").count(), 2, "nobody ends what is for readers without scripts");
    assert_eq!(page.matches("<script").count(), 2);
    assert!(server.get("/").await.text.contains(&format!("href=\"/d/{id}\"")));
    for path in ["/d/none", "/d/01890000-0000-7000-8000-000000000001", "/compare"] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn s12_the_shell_shows_no_other_tenants_data() {
    let server = TestServer::open(&tenants()).await;
    let id = answered(server.posting("/api/discussions", &order()).bearer_auth(ANN)).await.id();
    answered(server.request("GET", &format!("/api/discussions/{id}/events")).bearer_auth(ANN)).await;
    for path in ["/".to_owned(), format!("/d/{id}")] {
        let get = || server.request("GET", &path);
        let check = async |request: reqwest::RequestBuilder, shown: bool| {
            let answer = answered(request).await;
            assert_eq!(
                (answer.status.as_u16(), answer.text.contains("Tabs or spaces?")),
                (200, shown),
                "{path}"
            );
        };
        check(get(), false).await;
        check(get().bearer_auth("a-wrong-token-0123456789"), false).await;
        check(get().bearer_auth(BOB), false).await;
        check(get().bearer_auth(ANN), true).await;
        check(get().basic_auth("ann", Some(ANN)), true).await;
        let foreign = get().header("host", "evil.example");
        assert_eq!(answered(foreign).await.status, 421);
        assert_eq!(answered(server.request("POST", &path)).await.status, 401);
    }
}

#[tokio::test]
async fn s6_no_page_may_make_markup_of_text() {
    let server = TestServer::open(FAST).await;
    for path in ["/", "/d/none", "/compare", "/assets/main.js"] {
        let policy = server.get(path).await.headers["content-security-policy"].to_str().unwrap().to_owned();
        for rule in [
            "script-src 'self';",
            "style-src 'self';",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
    }
}

#[tokio::test]
async fn f11_the_view_all_has_every_fact_and_the_live_text() {
    let server = TestServer::open(FAST).await;
    let id = server.ordered(&slow()).await;
    let path = format!("/api/discussions/{id}/events?view=all");
    let mut stream = server.request("GET", &path).send().await.unwrap();
    let mut heard = String::new();
    while heard.matches("event: turn-chunk").count() < 3 {
        heard.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    let whole = &heard[..heard.rfind("\n\n").unwrap()];
    let told = events(whole);
    let numbers: Vec<u64> = told.iter().filter_map(|it| it.0).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert!(
        told.iter().all(|(number, name, _)| name == if number.is_some() { "fact" } else { "turn-chunk" })
    );
    server.post(&format!("/api/discussions/{id}/abort"), &json!({})).await;
}

#[tokio::test]
async fn a_vote_that_was_taken_again_is_readable_without_scripts_with_its_first_vote() {
    let server = TestServer::open(FAST).await;
    let vote = json!({
        "topic": "Best API style?", "pattern": "voting", "votingOptions": ["REST", "GraphQL", "gRPC"], "threshold": 1,
    });
    let id = server.held(&vote).await;
    let page = server.get(&format!("/d/{id}")).await.text;
    let first = page.find("First vote");
    let last = page.rfind("Votes");
    assert!(first.is_some() && last.is_some(), "{page}");
    let decided = server
        .held(&json!({ "topic": "Best API style?", "pattern": "voting",
        "votingOptions": ["REST", "GraphQL"], "threshold": 0 }))
        .await;
    assert!(!server.get(&format!("/d/{decided}")).await.text.contains("First vote"));
}
