//! The process that is measured: on the first core, with the vendor on the second. It holds
//! discussions with the engine, or makes the same calls as the floor does.

use std::{
    io::Read,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use futures::future::try_join_all;
use quorum_core::{engine::Engine, model::spec::Spec};
use tokio::{runtime::Runtime, time::sleep};

use super::{floor::FloorClient, relay};
use crate::{
    bench_server::BenchServer, database::Database, helper::Helper, machine, record, stamper::TAKES, voices,
};

/// The argument that selects the role of a subject.
pub(crate) const SUBJECT: &str = "--subject";

/// The argument that selects the role of a subject that serves clients.
pub(crate) const SERVING_SUBJECT: &str = "--serving-subject";

/// The subject of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Floor,
    Ours,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Floor => "floor",
            Kind::Ours => "ours",
        }
    }

    fn read(name: &str) -> Result<Kind> {
        let kinds = [Kind::Floor, Kind::Ours];
        kinds.into_iter().find(|it| it.name() == name).context("`floor` or `ours`")
    }
}

/// How many discussions are held, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) count: u64,
    /// They arrive evenly over this time.
    pub(super) over_ms: u64,
    /// How long a call takes: the same within a discussion, spread evenly over all of them.
    pub(super) shortest_ms: u64,
    pub(super) longest_ms: u64,
    /// How long a stream takes after its first piece.
    pub(super) streaming_ms: u64,
}

impl Plan {
    /// This many at the same moment.
    pub(super) fn at_once(count: u64, call_ms: u64) -> Plan {
        Plan { count, over_ms: 0, shortest_ms: call_ms, longest_ms: call_ms, streaming_ms: 0 }
    }

    fn arguments(self) -> Vec<String> {
        let Plan { count, over_ms, shortest_ms, longest_ms, streaming_ms } = self;
        [count, over_ms, shortest_ms, longest_ms, streaming_ms].map(|it| it.to_string()).to_vec()
    }

    fn read(arguments: &[String]) -> Result<Plan> {
        let numbers: Vec<u64> = arguments.iter().map(|it| it.parse()).collect::<Result<_, _>>()?;
        let [count, over_ms, shortest_ms, longest_ms, streaming_ms] = numbers[..] else {
            bail!("five numbers are needed")
        };
        Ok(Plan { count, over_ms, shortest_ms, longest_ms, streaming_ms })
    }

    fn arrival(self, index: u64) -> Duration {
        Duration::from_micros(self.over_ms * 1_000 * index / self.count)
    }

    /// How long a call of this discussion takes to its first piece. Neighbours differ.
    fn call_ms(self, index: u64) -> u64 {
        let spread = self.longest_ms - self.shortest_ms;
        self.shortest_ms + spread * (index * 7 % self.count) / self.count
    }

    /// The time of the calls of a discussion that wait for each other, in seconds.
    fn path(self, index: u64) -> f64 {
        3.0 * (self.call_ms(index) + self.streaming_ms) as f64 / 1e3
    }
}

/// The time and resources that the discussions of a plan took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    /// All of them, in seconds.
    pub(super) wall: f64,
    /// Processor time in seconds.
    pub(super) cpu: f64,
    /// The peak of the memory that they added, in bytes.
    pub(super) memory: f64,
    /// Time against the calls that wait for each other.
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// One commit by one writer afterwards, in seconds.
    pub(super) commit: f64,
}

impl Figures {
    fn line(self) -> String {
        let Figures { wall, cpu, memory, p50, p99, commit } = self;
        [wall, cpu, memory, p50, p99, commit].map(|it| it.to_string()).join(" ")
    }

    fn read(line: &str) -> Result<Figures> {
        let numbers: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [wall, cpu, memory, p50, p99, commit] = numbers[..] else { bail!("six numbers are needed") };
        Ok(Figures { wall, cpu, memory, p50, p99, commit })
    }
}

/// Measures a plan in a process of its own.
pub(super) fn measure(kind: Kind, url: &str, plan: Plan) -> Result<Figures> {
    let arguments = [vec![kind.name().to_owned(), url.to_owned()], plan.arguments()].concat();
    Figures::read(&Helper::start(SUBJECT, &arguments)?.line()?)
}

/// Starts a server of this kind in a process of its own; its first line is its address.
pub(super) fn start_server(kind: Kind, url: &str) -> Result<Helper> {
    Helper::start(SERVING_SUBJECT, &[kind.name().to_owned(), url.to_owned()])
}

/// Runs as a subject, and prints the figures.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [kind, url, plan @ ..] = arguments else { bail!("a kind, an address and a plan are needed") };
    let (kind, plan) = (Kind::read(kind)?, Plan::read(plan)?);
    println!("{}", on_one_core()?.block_on(figures(kind, url, plan))?.line());
    Ok(())
}

/// Runs as a subject that serves clients, until its input ends.
pub(crate) fn serve(arguments: &[String]) -> Result<()> {
    let [kind, url] = arguments else { bail!("a kind and an address are needed") };
    on_one_core()?.block_on(async {
        let database = Database::fresh()?;
        if Kind::read(kind)? == Kind::Floor {
            tokio::spawn(relay::run(url.clone()));
            return input_ends().await;
        }
        let server = BenchServer::with_vendor(&database, url).await?;
        println!("{}", server.address());
        input_ends().await
    })
}

async fn input_ends() -> Result<()> {
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}

/// The runtime that `ax serve` has on a machine with one core.
fn on_one_core() -> Result<Runtime> {
    machine::pin_to(0)?;
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

async fn figures(kind: Kind, url: &str, plan: Plan) -> Result<Figures> {
    let database = Database::fresh()?;
    let holder = match kind {
        Kind::Floor => Holder::Floor(FloorClient::new(url)),
        Kind::Ours => Holder::Ours(voices::engine(&database, url)?),
    };
    // Connections, checks of providers and prepared statements are made once.
    holder.hold(1).await?;
    let (memory, cpu, began) = (machine::resident_bytes()?, machine::own_cpu_seconds(), Instant::now());
    let mut times = try_join_all((0..plan.count).map(|index| holder.clone().timed(plan, index))).await?;
    let (wall, cpu) = (began.elapsed().as_secs_f64(), machine::own_cpu_seconds() - cpu);
    let memory = machine::most_resident_bytes()?.saturating_sub(memory) as f64;
    times.sort_by(f64::total_cmp);
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    Ok(Figures { wall, cpu, memory, p50, p99, commit: record::commit_seconds(&database).await? })
}

/// Holds discussions, or makes their calls.
#[derive(Clone)]
enum Holder {
    Floor(FloorClient),
    Ours(Engine),
}

impl Holder {
    /// Holds a discussion when it is due, and returns its time against its path.
    async fn timed(self, plan: Plan, index: u64) -> Result<f64> {
        let held = tokio::spawn(async move {
            sleep(plan.arrival(index)).await;
            let began = Instant::now();
            self.hold(plan.call_ms(index)).await?;
            Ok(began.elapsed().as_secs_f64() / plan.path(index))
        });
        held.await?
    }

    async fn hold(&self, call_ms: u64) -> Result<()> {
        match self {
            Holder::Floor(client) => client.discussion(call_ms).await,
            Holder::Ours(engine) => {
                let topic = format!("What does it cost, if {TAKES}{call_ms} ms?");
                let spec = Spec { topic, ..voices::talk() };
                let outcome = engine.begin(spec).await?.finished().await?.outcome();
                ensure!(outcome.success, "a discussion failed: {:?}", outcome.error);
                Ok(())
            }
        }
    }
}
