//! Schedules: which faults happen when, derived from a seed.

use quorum_core::model::command::{Command, Note};

use super::link::Connection;

/// The number of nodes.
pub(crate) const NODES: u64 = 3;

/// What happens in one play.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    /// How long after the one before each process is started, in ms. Nodes that beat at the same
    /// moments would never see each other's beats stand still when the database comes back.
    pub(crate) starts: [u64; NODES as usize],
    /// How many discussions are ordered, and when, in ms.
    pub(crate) orders: Vec<u64>,
    /// The faults, with their times in ms.
    pub(crate) faults: Vec<(u64, Fault)>,
    /// The commands: when, through which node, to which discussion.
    pub(crate) commands: Vec<(u64, u64, usize, Command)>,
}

/// A fault and its duration in milliseconds.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The process is killed; after a while another one takes its place.
    Crash { node: u64, for_ms: u64 },
    /// The process is stopped, and goes on as if nothing had happened.
    Stop { node: u64, for_ms: u64 },
    /// The node's connection is bad.
    Cut { node: u64, for_ms: u64, connection: Connection },
    /// The connections of all nodes are bad: the database is down or slow.
    Database { for_ms: u64, connection: Connection },
    /// The process is told to end; it leaves what it runs to others, and another takes its place.
    Drain { node: u64, for_ms: u64 },
}

/// Deterministic pseudo-random numbers.
struct Lots(u64);

impl Lots {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }
}

impl Schedule {
    pub(crate) fn of(seed: u64) -> Self {
        let mut lots = Lots(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let orders: Vec<u64> = (0..2 + lots.below(6)).map(|_| lots.below(3_000)).collect();
        let mut faults: Vec<_> =
            (0..1 + lots.below(5)).map(|_| (lots.below(8_000), fault(&mut lots))).collect();
        faults.sort_by_key(|it| it.0);
        let commands = (0..lots.below(5)).flat_map(|_| command(&mut lots, orders.len() as u64)).collect();
        let starts = [0, 1 + lots.below(700), 1 + lots.below(700)];
        Schedule { starts, orders, faults, commands }
    }
}

fn fault(lots: &mut Lots) -> Fault {
    let (node, for_ms) = (lots.below(NODES), 200 + lots.below(9_000));
    match lots.below(9) {
        0..=2 => Fault::Crash { node, for_ms },
        3 | 4 => Fault::Stop { node, for_ms },
        5 => Fault::Cut { node, for_ms, connection: connection(lots) },
        6 | 7 => Fault::Database { for_ms, connection: connection(lots) },
        _ => Fault::Drain { node, for_ms },
    }
}

fn connection(lots: &mut Lots) -> Connection {
    match lots.below(4) {
        0 => Connection::Refused,
        1 => Connection::Swallowed,
        2 => Connection::Mute,
        _ => Connection::Slow(50 + lots.below(450)),
    }
}

/// A command, and what ends its effect if it would last.
fn command(lots: &mut Lots, orders: u64) -> Vec<(u64, u64, usize, Command)> {
    let (at, node, order) = (1_000 + lots.below(8_000), lots.below(NODES), lots.below(orders) as usize);
    match lots.below(4) {
        0 | 1 => {
            let later = at + 500 + lots.below(8_000);
            let again = (later, lots.below(NODES), order, Command::Resume);
            vec![(at, node, order, Command::Pause), again]
        }
        2 => vec![(at, node, order, Command::Stop)],
        _ => vec![(at, node, order, Command::Note(Note { text: "be brief".to_owned() }))],
    }
}
