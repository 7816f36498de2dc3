//! What people see of speeches while they arrive.

use std::collections::BTreeMap;

use futures::StreamExt;
use quorum_core::{engine::feed::Signal, model::spec::Spec};
use quorum_testkit::{panel::panel, spec::spec};

use crate::table;

#[tokio::test(start_paused = true)]
async fn c03_live_text_ran_past_a_stop_sequence_that_the_record_cuts() {
    let said = "One thing.\nAnd this.\n\nann: I agree. [3] And so on.";
    for size in [1, 2, 3, 100] {
        let table = table(&panel().says("*", said).in_pieces("*", size));
        let id = table.open(Spec { rounds: 1, ..spec("roundtable") }).await.unwrap();
        let handle = table.engine.run(id).await.unwrap();
        let signals: Vec<Signal> = handle.signals().collect().await;
        let mut live: BTreeMap<String, String> = BTreeMap::new();
        for signal in &signals {
            if let Signal::Piece(piece) = signal
                && !piece.step.as_str().contains("/deciding/")
            {
                live.entry(piece.participant.clone()).or_default().push_str(&piece.text);
            }
        }
        let recorded = handle.finished().await.unwrap().outcome().rounds[0].responses.clone();
        let recorded: BTreeMap<String, String> =
            recorded.into_iter().map(|it| (it.provider, it.content)).collect();
        assert_eq!(live, recorded, "in pieces of {size}");
        assert!(recorded.values().all(|it| it == "One thing.\nAnd this."), "{recorded:?}");
    }
}
