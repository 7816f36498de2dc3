//! A pattern as another crate would define it: options of every kind, a form, a stopping reason, a
//! decision by people, and result fields.

use std::collections::BTreeMap;

use quorum::{
    choices,
    floor::{
        Floor,
        ask::Ask,
        halt::Halt,
        reading::{Misread, Static},
    },
    model::{
        outcome::Decision,
        phase::{Phase, PhaseTable},
    },
    registry::Pattern,
    vocabulary::{
        ending::Ending,
        form::Form,
        option::{Opt, Picked, RowCell, RowCellKind, Rows},
        result::ResultField,
        ruling::{RulingChoice, RulingKind},
        view::View,
    },
};
use serde_json::{Value, json};

const ATTEMPTS: Opt<u32> = Opt::whole("attempts", "How often everyone estimates", 1..=5, 2);
const SPREAD: Opt<f64> = Opt::number("spread", "How far apart is close enough", 0.0..=1.0, 0.25);
const SECRET: Opt<bool> = Opt::flag("secret", "Nobody hears the others", false);
const EXPLAINED: Opt<bool> = Opt::flag("explained", "Estimates come with reasons", true);
const UNIT: Opt<Option<String>> = Opt::text("unitName", "What is counted", 10, "UNIT");
const SCALE: Opt<Picked<Scale>> = Opt::choice("numberScale", "How estimates are compared");
const ANCHOR: Opt<Option<String>> = Opt::seat("anchor", "The participant that estimates first");
const MEANING: Opt<Option<String>> = Opt::embedder("meaning", "The model that compares reasons");
const ALARMS: Opt<Vec<String>> = Opt::detectors("alarms", "What is reported");
const HINTS: Opt<BTreeMap<String, Vec<String>>> = Opt::texts_by_seat("hints", "What single ones know", 2, 20);
const LIMITS: Opt<Rows<Value>> = Opt::rows(
    "limits",
    "Who may estimate what",
    &[
        RowCell { name: "participant", kind: RowCellKind::Seat, required: true },
        RowCell { name: "lowest", kind: RowCellKind::Text, required: true },
        RowCell { name: "notes", kind: RowCellKind::Texts, required: false },
    ],
    4,
);

choices! {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Scale {
        Linear = "linear": "by their difference",
        Logarithmic = "logarithmic": "by their ratio",
    }
}

static FORM: Form = Form::new("estimate")
    .tell(|value| Some(format!("estimates {} days", value.get("days")?)))
    .sample(|mind, _| json!({ "days": 10 + mind.name().len() }).to_string());

const ESTIMATES: Static<Value> = Static {
    form: &FORM,
    schema: || Some(json!({ "type": "object", "properties": { "days": { "type": "integer" } } })),
    read: |reply| serde_json::from_str(reply).map_err(|_| Misread::new("it is no JSON")),
    reminders: &[],
};

const ESTIMATING: Phase = Phase("estimating");
const SETTLED: &str = "settled";

pub(crate) static PATTERN: Pattern = Pattern {
    name: "estimate",
    summary: "Everyone estimates until the numbers are close",
    options: &[
        &ATTEMPTS, &SPREAD, &SECRET, &EXPLAINED, &UNIT, &SCALE, &ANCHOR, &MEANING, &ALARMS, &HINTS, &LIMITS,
    ],
    forms: &[&FORM],
    ends: &[Ending::new(SETTLED, "The numbers are close enough")],
    rulings: &[RulingKind {
        name: "referee",
        summary: "Say whose number counts",
        choices: &[
            RulingChoice { name: "take", summary: "The number of the one named", takes_candidate: true },
            RulingChoice { name: "drop", summary: "Nobody's", takes_candidate: false },
        ],
    }],
    results: &[
        ResultField {
            name: "estimates",
            title: "Estimates",
            view: View::Numbers { number: "/days", unit: None },
            of: |state| {
                let read = state.readings.iter().filter(|it| it.reading.kind == "estimate");
                let row = |it: &quorum::model::state::RecordedReading| json!({ "round": it.round, "participant": it.participant, "days": it.reading.value["days"] });
                Some(read.map(row).collect())
            },
        },
        ResultField {
            name: "ordered",
            title: "Ordered",
            view: View::Hidden,
            of: |state| Some(json!(state.spec.settings)),
        },
    ],
    phases: PhaseTable { first: &[ESTIMATING], next: &[(ESTIMATING, &[ESTIMATING])] },
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let attempts = floor.option(&ATTEMPTS);
    for round in 1..=attempts {
        floor.enter(ESTIMATING, round).await?;
        let speakers = floor.speakers();
        floor.ask_all_for(&speakers, |_| Ask::new("You estimate.", "How many days?"), &ESTIMATES).await?;
    }
    floor.end(SETTLED, attempts, None)?;
    Ok(None)
}
