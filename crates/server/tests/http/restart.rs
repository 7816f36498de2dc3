//! Killed and restarted: all discussions resume by themselves, and subscribers miss nothing (F13,
//! C06).

use std::time::{Duration, Instant};

use quorum::model::id::Tenant;
use quorum_server::Limits;
use serde_json::json;

use crate::harness::{FAST, Stream, TestServer, events, on_its_own, order};

#[test]
fn f13_running_discussions_continue_after_a_restart_and_others_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let ((ids, heard, key), runtime) = on_its_own(async {
        let server = TestServer::at(FAST, Limits::default(), &path).await;
        let long = json!({
            "topic": "Tabs or spaces?", "pattern": "round-robin", "rounds": 4, "simulate": { "latencyMs": 150 },
        });
        let running = server.ordered(&long).await;
        let paused = server.ordered(&long).await;
        let person = server.ordered(&json!({
            "topic": "What shall we build?", "pattern": "roundtable", "participants": ["claude", "me:person"],
        })).await;
        let keyed = server.posting("/api/discussions", &order()).header("idempotency-key", "durable");
        let key = crate::harness::answered(keyed).await.id();
        let mut stream =
            Stream::open(server.request("GET", &format!("/api/discussions/{running}/events"))).await;
        let heard = stream.until(|it| it.matches("event: turn-completed").count() >= 2).await;
        server.post(&format!("/api/discussions/{paused}/pause"), &json!({})).await;
        while server.state(&paused).await["lifecycle"] != "paused" {}
        assert_ne!(server.state(&running).await["lifecycle"], "completed");
        ([running, paused, person], heard, key)
    });
    // No graceful shutdown: every task is dropped where it is.
    runtime.shutdown_timeout(Duration::from_secs(5));

    let (_, runtime) = on_its_own(async {
        let server = TestServer::at(FAST, Limits::default(), &path).await;
        let [running, paused, person] = &ids;
        let whole = &heard[..heard.rfind("\n\n").unwrap()];
        let before: Vec<u64> = events(whole).iter().filter_map(|it| it.0).collect();
        let events_path = format!("/api/discussions/{running}/events");
        let after =
            server.request("GET", &events_path).header("last-event-id", before.last().copied().unwrap());
        let rest = crate::harness::answered(after).await.text;
        assert!(rest.contains("event: discussion-completed"));
        let all: Vec<u64> =
            events(&server.get(&events_path).await.text).iter().filter_map(|it| it.0).collect();
        let rest: Vec<u64> = events(&rest).iter().filter_map(|it| it.0).collect();
        assert_eq!([before, rest].concat(), all);
        let result = server.get(&format!("/api/discussions/{running}/result")).await.json();
        assert_eq!(result["success"], true);

        assert_eq!(server.state(paused).await["lifecycle"], "paused");
        let waiting = server.state(person).await;
        assert_eq!(
            (&waiting["lifecycle"], &waiting["awaiting"][0]["participant"]),
            (&json!("running"), &json!("me"))
        );
        let keyed = server.posting("/api/discussions", &order()).header("idempotency-key", "durable");
        assert_eq!(crate::harness::answered(keyed).await.id(), key);
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

#[test]
fn running_discussions_wait_for_slots_after_a_restart_and_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let (ids, runtime) = on_its_own(async {
        let server = TestServer::at(FAST, Limits::default(), &path).await;
        let slow = json!({ "topic": "Tabs or spaces?", "rounds": 1, "simulate": { "latencyMs": 200 } });
        [server.ordered(&slow).await, server.ordered(&slow).await, server.ordered(&slow).await]
    });
    runtime.shutdown_timeout(Duration::from_secs(5));

    let (_, runtime) = on_its_own(async {
        let server = TestServer::at(FAST, Limits { running: 1, ..Limits::default() }, &path).await;
        assert_eq!(server.post("/api/discussions", &order()).await.json()["status"], "queued");
        let mut ended = Vec::new();
        for id in &ids {
            server.get(&format!("/api/discussions/{id}/events")).await;
            ended.push(server.state(id).await["completedAt"].as_u64().unwrap());
        }
        // No two ran concurrently: each makes a call of 200 ms once the one before it is over.
        assert!(ended.windows(2).all(|it| it[0] + 200 <= it[1]), "{ended:?}");
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn f13_closing_ends_streams_in_time_and_aborts_nothing() {
    // The call under way takes longer than the server may wait for it.
    let limits = Limits { drain: Duration::from_secs(1), ..Limits::default() };
    let mut server = TestServer::with("[defaults]\nsimulate = \"latency=300s\"\n", limits).await;
    let order = json!({
        "prompt": "Tabs or spaces?", "modelA": { "modelId": "a", "providerId": "claude" },
        "modelB": { "modelId": "b", "providerId": "gemini" },
    });
    let mut stream = Stream::open(server.posting("/api/discussion", &order)).await;
    stream.until(|it| it.contains("turn-started")).await;
    let started = Instant::now();
    server.close().await;
    // Far less than the call under way takes, and enough for a busy machine.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    let heard = stream.rest().await;
    assert!(!heard.contains("discussion-aborted"), "{heard}");
    let id = events(&heard)[0].2["discussionId"].as_str().unwrap().parse().unwrap();
    let quorum = quorum::Quorum::open(crate::harness::config("", &server.folder)).unwrap();
    let discussion = quorum.scope(Tenant::default(), "ann").discussion(id).await.unwrap();
    assert_eq!(discussion.state().await.unwrap().lifecycle.name(), "running");
}
