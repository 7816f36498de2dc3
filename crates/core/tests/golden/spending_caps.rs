//! Samples of an account with caps, and of a cap that is reached.

use std::sync::Arc;

use quorum_core::model::{
    account::{CappedAccount, Caps, Period},
    event::{Event, WindUp},
    id::{Step, Tenant},
    money::Usd,
    spec::Spec,
    time::Timestamp,
};

use crate::{Sample, spec};

pub(crate) fn spending_caps() -> Vec<Sample> {
    let caps = Caps {
        per_day: Some(Usd::from_cents(500)),
        per_month: Some(Usd::from_cents(5_000)),
        allow_unpriced: true,
    };
    let account = Some(CappedAccount { name: "ann's laptop".into(), caps });
    let spec = Arc::new(Spec { tenant: Tenant::named("acme"), account, ..(*spec()).clone() });
    let reason = WindUp::SpendingCap {
        needed: Usd::from_cents(12),
        left: Usd::from_cents(7),
        cap: Usd::from_cents(500),
        period: Period::Day,
        renews_at: Timestamp(1_767_312_000_000_000),
    };
    vec![
        (None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None }),
        (Some(Step::from("2/speaking/ann/wound-up")), Event::WoundUp { reason }),
    ]
}
