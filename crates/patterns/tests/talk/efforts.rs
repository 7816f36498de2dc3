//! The effort that calls ask for: little for votes, checks, casting and summaries, much for judging
//! and writing, and the model's own default for speeches.

use std::collections::BTreeMap;

use quorum_core::{
    call::Effort,
    model::spec::{Manner, Spec, WindowSpec},
};
use quorum_patterns::{
    PATTERNS,
    debate::{DebateSpec, Diversity},
};
use quorum_testkit::{
    panel::{Panel, panel},
    spec::{deciding_by, spec},
};

use crate::table;

/// The efforts wanted in this discussion, by form; a summary counts as one.
async fn efforts(panel: &Panel, spec: Spec) -> BTreeMap<String, String> {
    let table = table(panel);
    table.hold(spec).await;
    let asked = table.panel.asked();
    let of = |it: &quorum_testkit::panel::AskedCall| {
        let form = it.call.shape.as_ref().map_or("speech", |it| it.form.kind);
        let is_summary = it.step.as_str().starts_with("summary/");
        let form = if is_summary { "summary" } else { form };
        (form.to_owned(), it.call.effort.name().unwrap_or("the model's own").to_owned())
    };
    let all: Vec<(String, String)> = asked.iter().map(of).collect();
    let efforts: BTreeMap<String, String> = all.iter().cloned().collect();
    assert!(all.iter().all(|(form, effort)| efforts[form] == *effort), "{all:?}");
    efforts
}

#[tokio::test(start_paused = true)]
async fn votes_checks_and_casting_take_little_effort_and_judging_and_writing_much() {
    let casting = DebateSpec { casting: Some(Diversity::Binary), ..DebateSpec::default() };
    let mut all = BTreeMap::new();
    for pattern in PATTERNS {
        let settings =
            if pattern.name == "debate" { casting.settings() } else { spec(pattern.name).settings };
        for method in ["synthesis", "majority", "unanimous"] {
            let spec = deciding_by(spec(pattern.name), method);
            all.extend(efforts(&panel(), Spec { settings: settings.clone(), ..spec }).await);
        }
    }
    let told: Vec<String> = all.iter().map(|(form, effort)| format!("{form}: {effort}")).collect();
    let expected = [
        "assessment: high",
        "ballot: low",
        "casting: low",
        "check: low",
        "consensus-check: low",
        "speech: the model's own",
        "synthesis: high",
        "verdict: high",
    ];
    assert_eq!(told, expected);
}

#[tokio::test(start_paused = true)]
async fn a_summary_takes_little_effort() {
    let long = "the case for it is strong and ".repeat(600 / 7);
    let panel = panel().window("*", 8_000).says("*", &long).sums_up("*");
    let order = spec("round-robin");
    let window = WindowSpec { strategy: "summarise".to_owned(), ..order.window.clone() };
    let manner = Manner { max_tokens: 1_024, ..order.manner };
    let told = efforts(&panel, Spec { rounds: 4, window, manner, ..order }).await;
    assert_eq!(told.get("summary").map(String::as_str), Some("low"), "{told:?}");
    assert_eq!(Effort::default(), Effort::ModelDefault);
}
