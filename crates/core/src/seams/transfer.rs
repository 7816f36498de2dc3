//! Whole discussions as rows of text, to move them from one database to another and to check them.
//!
//! Stores that are databases have the same tables, apart from what concerns running processes. The
//! tables are described here once; each store builds its SQL statements from that.

use futures::future::BoxFuture;
use uuid::Uuid;

use super::StoreError;
use crate::model::id::DiscussionId;

/// A store whose discussions can be moved and checked.
///
/// - [`Transfer::import`] is atomic, and writes its mark in the same transaction: a discussion with
///   a mark is complete, so an interrupted move can be repeated.
/// - The source of a move is only read.
pub trait Transfer: Send + Sync {
    /// The id of this store, which never changes.
    fn identity(&self) -> BoxFuture<'_, Result<Uuid, StoreError>>;

    /// The numbers of discussions and facts.
    fn totals(&self) -> BoxFuture<'_, Result<Totals, StoreError>>;

    /// Reads discussions, in the order of their numbers.
    fn bundles(&self, wanted: Bundles) -> BoxFuture<'_, Result<Vec<Bundle>, StoreError>>;

    /// Writes a discussion that does not exist here yet.
    fn import(&self, bundle: Bundle, mark: Mark) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Reads rows that belong to no discussion, in a fixed order.
    fn shelf(&self, page: Page) -> BoxFuture<'_, Result<Vec<Row>, StoreError>>;

    /// Writes rows that belong to no discussion.
    fn import_shelf(
        &self,
        table: &'static Table,
        rows: Vec<Row>,
        mark: Mark,
    ) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The marks of these names that a move from this source has left, as name and progress.
    fn marks(
        &self,
        source: Uuid,
        names: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<(String, u64)>, StoreError>>;

    /// How many discussions in this store were not moved from this source.
    fn strangers(&self, source: Uuid) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// What is wrong with the tables: one entry for each rule that is broken.
    fn flaws(&self) -> BoxFuture<'_, Result<Vec<Flaw>, StoreError>>;
}

/// The numbers of discussions and facts in a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// All discussions, including sub-discussions.
    pub discussions: u64,
    /// Facts.
    pub facts: u64,
    /// Discussions that are not over.
    pub unfinished: u64,
    /// The number of the last discussion.
    pub last: u64,
}

/// Which discussions are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bundles {
    /// The next discussions after this number, at most this many.
    After(u64, usize),
    /// The discussions with these ids.
    Of(Vec<DiscussionId>),
}

/// The columns of one row, in the order of its table.
pub type Row = Vec<Option<String>>;

/// Everything that is stored about one discussion, without its sub-discussions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Its number in the store it was read from.
    pub number: u64,
    /// Its id.
    pub id: DiscussionId,
    /// Its row in [`DISCUSSIONS`].
    pub discussion: Row,
    /// Its rows in each of the [`BELONGINGS`], in that order.
    pub belongings: Vec<Vec<Row>>,
}

impl Bundle {
    /// The rows of one of the [`BELONGINGS`].
    #[must_use]
    pub fn rows(&self, table: &Table) -> &[Row] {
        let place = BELONGINGS.iter().position(|it| it.name == table.name);
        place.and_then(|it| self.belongings.get(it)).map_or(&[], Vec::as_slice)
    }

    /// A column of its row in [`DISCUSSIONS`].
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&str> {
        self.discussion.get(DISCUSSIONS.place(name)?)?.as_deref()
    }

    /// The same as a mutable reference.
    pub fn column_mut(&mut self, name: &str) -> Option<&mut Option<String>> {
        self.discussion.get_mut(DISCUSSIONS.place(name)?)
    }
}

/// A part of a table that belongs to no discussion.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The table.
    pub table: &'static Table,
    /// How many rows are skipped.
    pub skip: u64,
    /// How many are read at most.
    pub limit: usize,
}

/// A record in the target that something was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The store it came from.
    pub source: Uuid,
    /// The id of a discussion, or the name of a table.
    pub name: String,
    /// The number of the discussion in the source, or how many rows of the table were moved.
    pub upto: u64,
}

/// A table, as every store has it.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, without those that each store fills by itself.
    pub columns: &'static [Column],
    /// The order of its rows.
    pub order: &'static str,
    /// The column with the discussion, if rows belong to one.
    pub discussion: Option<&'static str>,
}

impl Table {
    /// The index of a column.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.name == name)
    }
}

/// A column.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
}

/// The type of a column, and how its values are written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, as it is.
    Text,
    /// A whole number, in decimal.
    Whole,
    /// Yes or no, as `1` or `0`.
    Flag,
    /// A UUID, in lower case with hyphens.
    Id,
    /// Texts, as a JSON array.
    List,
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

/// Discussions, without the columns about the process that runs one.
pub const DISCUSSIONS: Table = Table {
    name: "discussions",
    columns: &[
        column("id", Kind::Id),
        column("root", Kind::Id),
        column("tenant", Kind::Text),
        column("session", Kind::Id),
        column("pattern", Kind::Text),
        column("flow", Kind::Whole),
        column("needs", Kind::List),
        column("topic", Kind::Text),
        column("title", Kind::Text),
        column("key", Kind::Text),
        column("simulated", Kind::Flag),
        column("opened_at", Kind::Whole),
        column("status", Kind::Text),
        column("success", Kind::Flag),
        column("synthesis", Kind::Text),
        column("ended_at", Kind::Whole),
        column("digest", Kind::Text),
        column("run", Kind::Text),
        column("fence", Kind::Whole),
        column("attempts", Kind::Whole),
        column("stuck", Kind::Flag),
        column("turn", Kind::Whole),
        column("ready_at", Kind::Whole),
        column("hidden_at", Kind::Whole),
        column("restored_at", Kind::Whole),
    ],
    order: "number",
    discussion: Some("id"),
};

/// Facts.
pub const FACTS: Table = Table {
    name: "facts",
    columns: &[
        column("seq", Kind::Whole),
        column("at", Kind::Whole),
        column("active_ms", Kind::Whole),
        column("step", Kind::Text),
        column("type", Kind::Text),
        column("body", Kind::Text),
    ],
    order: "seq",
    discussion: Some("discussion"),
};

/// The participants, as requirement C wants them.
pub const PARTICIPANTS: Table = Table {
    name: "discussion_participants",
    columns: &[
        column("id", Kind::Id),
        column("agent_id", Kind::Text),
        column("role", Kind::Text),
        column("sequence_order", Kind::Whole),
        column("created_at", Kind::Text),
    ],
    order: "sequence_order",
    discussion: Some("project_id"),
};

/// The state, as requirement C wants it.
pub const STATES: Table = Table {
    name: "discussion_state",
    columns: &[
        column("id", Kind::Id),
        column("current_turn_index", Kind::Whole),
        column("current_round", Kind::Whole),
        column("status", Kind::Text),
        column("created_at", Kind::Text),
        column("updated_at", Kind::Text),
    ],
    order: "id",
    discussion: Some("project_id"),
};

/// What was said, as requirement C wants it.
pub const LOGS: Table = Table {
    name: "discussion_logs",
    columns: &[
        column("id", Kind::Id),
        column("agent_id", Kind::Text),
        column("role", Kind::Text),
        column("content", Kind::Text),
        column("turn_index", Kind::Whole),
        column("round_number", Kind::Whole),
        column("metadata", Kind::Text),
        column("created_at", Kind::Text),
    ],
    order: "id",
    discussion: Some("project_id"),
};

/// Everything that belongs to a discussion, apart from its own row.
pub const BELONGINGS: &[Table] = &[
    FACTS,
    Table {
        name: "commands",
        columns: &[column("id", Kind::Whole), column("command", Kind::Text), column("at", Kind::Whole)],
        order: "id",
        discussion: Some("discussion"),
    },
    PARTICIPANTS,
    STATES,
    LOGS,
    Table {
        name: "outcomes",
        columns: &[
            column("tenant", Kind::Text),
            column("simulated", Kind::Flag),
            column("answer", Kind::Text),
            column("said_by", Kind::Text),
            column("at", Kind::Whole),
            column("scored", Kind::Text),
        ],
        order: "number",
        discussion: Some("discussion"),
    },
    Table {
        name: "reservations",
        columns: &[
            column("tenant", Kind::Text),
            column("key", Kind::Text),
            column("digest", Kind::Text),
            column("at", Kind::Whole),
        ],
        order: "tenant, key",
        discussion: Some("discussion"),
    },
    Table {
        name: "allowances",
        columns: &[
            column("tenant", Kind::Text),
            column("name", Kind::Text),
            column("day", Kind::Whole),
            column("base", Kind::Whole),
            column("amount", Kind::Whole),
            column("fence", Kind::Whole),
        ],
        order: "day",
        discussion: Some("discussion"),
    },
];

/// Sessions, which discussions refer to, so they are moved first.
pub const SESSIONS: Table = Table {
    name: "sessions",
    columns: &[
        column("id", Kind::Id),
        column("tenant", Kind::Text),
        column("name", Kind::Text),
        column("created_at", Kind::Whole),
    ],
    order: "created_at, id",
    discussion: None,
};

/// Audit entries.
pub const AUDIT: Table = Table {
    name: "audit",
    columns: &[
        column("at", Kind::Whole),
        column("tenant", Kind::Text),
        column("who", Kind::Text),
        column("action", Kind::Text),
        column("discussion", Kind::Id),
        column("result", Kind::Text),
    ],
    order: "number",
    discussion: None,
};

/// Idempotency keys whose discussion was never created.
pub const UNUSED_RESERVATIONS: Table = Table {
    name: "reservations",
    columns: &[
        column("tenant", Kind::Text),
        column("key", Kind::Text),
        column("digest", Kind::Text),
        column("discussion", Kind::Id),
        column("at", Kind::Whole),
    ],
    order: "tenant, key",
    discussion: None,
};

/// Everything that belongs to no discussion.
pub const SHELVES: &[&Table] = &[
    &SESSIONS,
    &Table {
        name: "turns",
        columns: &[column("tenant", Kind::Text), column("next", Kind::Whole)],
        order: "tenant",
        discussion: None,
    },
    &Table {
        name: "spending",
        columns: &[
            column("tenant", Kind::Text),
            column("name", Kind::Text),
            column("day", Kind::Whole),
            column("spent", Kind::Whole),
        ],
        order: "tenant, name, day",
        discussion: None,
    },
    &Table {
        name: "memory",
        columns: &[
            column("tenant", Kind::Text),
            column("namespace", Kind::Text),
            column("key", Kind::Text),
            column("version", Kind::Whole),
            column("value", Kind::Text),
            column("at", Kind::Whole),
            column("expires", Kind::Whole),
            column("origin", Kind::Text),
        ],
        order: "number",
        discussion: None,
    },
    &AUDIT,
    &UNUSED_RESERVATIONS,
];

/// A rule that the tables break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The rule.
    pub rule: Rule,
    /// What breaks it, the first few.
    pub examples: Vec<String>,
}

/// The rules that every store must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The facts of a discussion are numbered from 1 without a gap.
    Numbers,
    /// Fences never decrease: no money was set aside under a newer claim than the discussion's
    /// newest one, and what is claimed has a claim.
    Fences,
    /// A discussion that is over stays over, and no fact follows its end.
    Over,
    /// No discussion is claimed by a node that is not registered.
    Held,
    /// Every row belongs to a discussion that exists.
    Orphans,
    /// The tables that are derived from facts agree with them.
    Projections,
}

impl Rule {
    /// The rule in words.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Rule::Numbers => "facts are numbered from 1 without a gap",
            Rule::Fences => "nothing was done under a newer claim than the newest",
            Rule::Over => "a discussion that is over has its end, and nothing follows",
            Rule::Held => "no discussion is held by a node that is not registered",
            Rule::Orphans => "every row belongs to a discussion that is there",
            Rule::Projections => "lists and tables follow from the facts",
        }
    }
}
