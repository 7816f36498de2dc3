//! Metrics (B12), derived from the facts of the discussions the server runs, so that no other code
//! has to count.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use metrics::{counter, gauge, histogram, with_local_recorder};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use quorum::{
    NodeHealth,
    model::{
        event::{Event, Fact, Placed},
        id::{Step, Tenant},
        lifecycle::Lifecycle,
        outcome::Decision,
        transcript::Turn,
    },
    seams::{Backlog, StoreFigures},
};

const SECONDS: &[f64] = &[0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1800.0];
const SMALL_SECONDS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
const TOKENS: &[f64] = &[16.0, 64.0, 256.0, 1_024.0, 4_096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0];

/// The metrics of all discussions, and those of each tenant: a tenant must not see another's
/// numbers (S12).
#[derive(Default)]
pub(crate) struct Metrics {
    all: Arc<Counts>,
    each: Mutex<BTreeMap<Tenant, Arc<Counts>>>,
}

struct Counts {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

impl Default for Counts {
    fn default() -> Self {
        let mut builder = PrometheusBuilder::new();
        for (name, buckets) in [
            ("ax_discussion_duration_seconds", SECONDS),
            ("ax_overhead_seconds", SMALL_SECONDS),
            ("gen_ai_client_operation_duration_seconds", SECONDS),
            ("gen_ai_client_token_usage", TOKENS),
        ] {
            // The tables above are neither empty nor unsorted, the only possible errors.
            builder = match builder.set_buckets_for_metric(Matcher::Full(name.to_owned()), buckets) {
                Ok(builder) => builder,
                Err(_) => PrometheusBuilder::new(),
            };
        }
        let recorder = builder.build_recorder();
        Counts { handle: recorder.handle(), recorder }
    }
}

impl Metrics {
    /// The metrics visible to this tenant, in Prometheus format: its own, or all for the machine's
    /// own user.
    pub(crate) fn text(&self, tenant: &Tenant) -> String {
        let counts = self.of(tenant);
        counts.handle.run_upkeep();
        counts.handle.render()
    }

    /// Sets the figures of the queue that this tenant sees; without any, they are unknown.
    pub(crate) fn queue(&self, tenant: &Tenant, backlog: Option<Backlog>) {
        let figure = |of: fn(&Backlog) -> f64| backlog.as_ref().map_or(f64::NAN, of);
        with_local_recorder(&self.of(tenant).recorder, || {
            gauge!("ax_discussions_queued").set(figure(|it| it.queued as f64));
            gauge!("ax_queue_oldest_seconds").set(figure(|it| seconds(it.oldest_ms)));
            gauge!("ax_discussions_stuck").set(figure(|it| it.stuck as f64));
        });
    }

    /// Sets the figures of this server as a node, for the machine's own user.
    pub(crate) fn node(&self, health: &NodeHealth) {
        with_local_recorder(&self.all.recorder, || {
            gauge!("ax_nodes").set(health.nodes as f64);
            gauge!("ax_node_held").set(health.held as f64);
            gauge!("ax_node_heartbeat_age_seconds")
                .set(health.beat_age.map_or(f64::NAN, |age| age.as_secs_f64()));
            counter!("ax_node_claims_total").absolute(health.claims);
            counter!("ax_node_takeovers_total").absolute(health.takeovers);
            counter!("ax_node_fenced_total").absolute(health.fenced);
            counter!("ax_node_cancelled_total").absolute(health.cancelled);
            counter!("ax_node_reaped_total").absolute(health.reaped);
        });
    }

    /// Sets the figures of the store, for the machine's own user.
    pub(crate) fn store(&self, figures: &StoreFigures) {
        with_local_recorder(&self.all.recorder, || {
            counter!("ax_store_appends_total").absolute(figures.appends);
            // A counter only holds whole numbers.
            gauge!("ax_store_append_seconds_total").set(figures.append_time.as_secs_f64());
            counter!("ax_store_batches_total").absolute(figures.batches);
            counter!("ax_store_reconnects_total").absolute(figures.reconnects);
            counter!("ax_store_bags_total").absolute(figures.bags);
            counter!("ax_store_dropped_texts_total").absolute(figures.dropped_texts);
            counter!("ax_store_pool_waits_total").absolute(figures.pool_waits);
            for (lane, grants) in &figures.grants {
                counter!("ax_store_grants_total", &[("lane", lane.clone())]).absolute(*grants);
            }
        });
    }

    /// Counts a rating.
    pub(crate) fn rated(&self, tenant: &Tenant, rating: u8, pattern: &str) {
        let labels = [("rating", rating.to_string()), ("pattern", pattern.to_owned())];
        for counts in self.counting(tenant) {
            with_local_recorder(&counts.recorder, || counter!("ax_ratings_total", &labels).increment(1));
        }
    }

    fn of(&self, tenant: &Tenant) -> Arc<Counts> {
        if tenant.is_own() {
            return self.all.clone();
        }
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        each.entry(tenant.clone()).or_default().clone()
    }

    /// The metrics in which this tenant's activity is counted.
    fn counting(&self, tenant: &Tenant) -> Vec<Arc<Counts>> {
        let own = (!tenant.is_own()).then(|| self.of(tenant));
        std::iter::once(self.all.clone()).chain(own).collect()
    }

    /// Counts one run of a discussion of this pattern.
    pub(crate) fn run(&self, tenant: &Tenant, pattern: &str) -> Vec<Run> {
        self.counting(tenant).into_iter().map(|counts| Run::new(counts, pattern)).collect()
    }
}

/// One run, as counted in one set of metrics.
pub(crate) struct Run {
    counts: Arc<Counts>,
    pattern: String,
    under_way: BTreeMap<Step, Placed>,
    busy: BusyTime,
}

impl Run {
    fn new(counts: Arc<Counts>, pattern: &str) -> Self {
        let pattern = pattern.to_owned();
        Run { counts, pattern, under_way: BTreeMap::new(), busy: BusyTime::default() }
    }
}

/// The time in which at least one call was under way.
#[derive(Default)]
struct BusyTime {
    total_ms: u64,
    since_ms: Option<u64>,
    calls: u32,
    /// The active time when this run began.
    from_ms: Option<u64>,
}

impl BusyTime {
    fn begin(&mut self, at_ms: u64) {
        self.calls += 1;
        self.since_ms.get_or_insert(at_ms);
    }

    fn end(&mut self, at_ms: u64) {
        self.calls = self.calls.saturating_sub(1);
        if self.calls == 0 {
            self.total_ms += self.since_ms.take().map_or(0, |since| at_ms.saturating_sub(since));
        }
    }
}

impl Run {
    /// Counts the next fact of this run.
    pub(crate) fn count(&mut self, fact: &Fact) {
        let counts = self.counts.clone();
        with_local_recorder(&counts.recorder, || self.fact(fact));
    }

    fn fact(&mut self, fact: &Fact) {
        self.busy.from_ms.get_or_insert(fact.active_ms);
        match (&fact.event, &fact.step) {
            (Event::CallPlaced(placed), Some(step)) => {
                self.busy.begin(fact.active_ms);
                self.under_way.insert(step.clone(), placed.clone());
            }
            (Event::TurnCompleted { turn }, Some(step)) => self.answered(fact, step, turn),
            (Event::CallFailed { class, retry_in_ms, .. }, Some(step)) => {
                let labels = self.ended(fact, step, class.name());
                if retry_in_ms.is_some() {
                    counter!("ax_provider_retries_total", &labels[..2]).increment(1);
                }
            }
            (Event::CallAbandoned { .. }, Some(step)) => drop(self.ended(fact, step, "abandoned")),
            (Event::Decided { decision }, _) => self.decided(decision),
            (Event::LifecycleChanged { to, .. }, _) if to.is_terminal() => self.over(fact, *to),
            _ => {}
        }
    }

    /// Counts the call that ends here, and returns its labels.
    fn ended(&mut self, fact: &Fact, step: &Step, outcome: &str) -> [(&'static str, String); 3] {
        let placed = self.under_way.remove(step);
        let (provider, model) =
            placed.map(|it| (it.provider.clone(), it.model.unwrap_or(it.provider))).unwrap_or_default();
        let labels = [("provider", provider), ("model", model), ("outcome", outcome.to_owned())];
        if !labels[0].1.is_empty() {
            self.busy.end(fact.active_ms);
            counter!("ax_provider_requests_total", &labels).increment(1);
        }
        labels
    }

    fn answered(&mut self, fact: &Fact, step: &Step, turn: &Turn) {
        let [(_, provider), (_, model), _] = self.ended(fact, step, "ok");
        if provider.is_empty() {
            // The turn of a person.
            return;
        }
        let answered_by = turn.answered_by.clone().unwrap_or_else(|| model.clone());
        let labels = |kind: Option<&str>| {
            let mut labels = vec![
                ("gen_ai_operation_name", "chat".to_owned()),
                ("gen_ai_provider_name", provider.clone()),
                ("gen_ai_request_model", model.clone()),
                ("gen_ai_response_model", answered_by.clone()),
            ];
            labels.extend(kind.map(|kind| ("gen_ai_token_type", kind.to_owned())));
            labels
        };
        let usage = turn.bill.usage;
        histogram!("gen_ai_client_operation_duration_seconds", &labels(None))
            .record(seconds(turn.duration_ms));
        histogram!("gen_ai_client_token_usage", &labels(Some("input"))).record(usage.prompt as f64);
        histogram!("gen_ai_client_token_usage", &labels(Some("output"))).record(usage.completion as f64);
        let labels = [("provider", provider), ("model", model)];
        match turn.bill.cost {
            // A counter only holds whole numbers, and a call costs less than a dollar.
            Some(cost) => gauge!("ax_cost_usd_total", &labels).increment(cost.dollars()),
            None => counter!("ax_unpriced_calls_total", &labels).increment(1),
        }
    }

    /// Counts the sentences of an answer by their level, and the views that it leaves out.
    fn decided(&self, decision: &Decision) {
        let pattern = ("pattern", self.pattern.clone());
        for sentence in &decision.provenance {
            let labels = [("level", sentence.level.name().to_owned()), pattern.clone()];
            counter!("ax_answer_sentences_total", &labels).increment(1);
        }
        if !decision.provenance.is_empty() {
            counter!("ax_dropped_dissent_total", &[pattern]).increment(decision.dropped.len() as u64);
        }
    }

    fn over(&mut self, fact: &Fact, to: Lifecycle) {
        let pattern = ("pattern", self.pattern.clone());
        let status = ("status", to.name().to_owned());
        counter!("ax_discussions_total", &[status, pattern.clone()]).increment(1);
        histogram!("ax_discussion_duration_seconds", &[pattern]).record(seconds(fact.active_ms));
        let ran_ms = fact.active_ms.saturating_sub(self.busy.from_ms.unwrap_or(fact.active_ms));
        histogram!("ax_overhead_seconds").record(seconds(ran_ms.saturating_sub(self.busy.total_ms)));
    }
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}
