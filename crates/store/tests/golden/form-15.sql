-- index allowances_by_account
CREATE INDEX allowances_by_account ON allowances (tenant, name, day);

-- index attached_by_node
CREATE INDEX attached_by_node ON attached (node);

-- index deeds_by_tenant
CREATE INDEX deeds_by_tenant ON deeds (tenant, number);

-- index discussion_logs_by_project
CREATE INDEX discussion_logs_by_project ON discussion_logs (project_id);

-- index discussion_participants_by_project
CREATE INDEX discussion_participants_by_project ON discussion_participants (project_id, sequence_order);

-- index discussions_by_key
CREATE INDEX discussions_by_key ON discussions (key);

-- index discussions_by_node
CREATE INDEX discussions_by_node ON discussions (node) WHERE node IS NOT NULL;

-- index discussions_by_root
CREATE INDEX discussions_by_root ON discussions (root);

-- index discussions_by_tenant
CREATE INDEX discussions_by_tenant ON discussions (tenant, opened_at, id) WHERE root = id;

-- index discussions_by_time
CREATE INDEX discussions_by_time ON discussions (opened_at, id) WHERE root = id;

-- index discussions_hidden
CREATE INDEX discussions_hidden ON discussions (hidden_at) WHERE hidden_at IS NOT NULL;

-- index discussions_to_be_found
CREATE INDEX discussions_to_be_found
ON discussions (tenant, session, simulated, success, ended_at, opened_at)
WHERE root = id AND hidden_at IS NULL;

-- index discussions_to_be_indexed
CREATE INDEX discussions_to_be_indexed ON discussions (number) WHERE unindexed = 1;

-- index discussions_waiting
CREATE INDEX discussions_waiting ON discussions (turn, opened_at, id)
WHERE root = id AND run = 'runnable' AND node IS NULL AND stuck = 0;

-- index outcomes_by_discussion
CREATE INDEX outcomes_by_discussion ON outcomes (discussion, number);

-- index outcomes_by_tenant
CREATE INDEX outcomes_by_tenant ON outcomes (tenant, simulated, number);

-- index reservations_by_discussion
CREATE INDEX reservations_by_discussion ON reservations (discussion);

-- index sqlite_autoindex_commands_1
Null;

-- index sqlite_autoindex_discussion_logs_1
Null;

-- index sqlite_autoindex_discussion_participants_1
Null;

-- index sqlite_autoindex_discussion_state_1
Null;

-- index sqlite_autoindex_discussion_state_2
Null;

-- index sqlite_autoindex_discussions_1
Null;

-- index sqlite_autoindex_facts_1
Null;

-- index sqlite_autoindex_memory_1
Null;

-- index sqlite_autoindex_memory_2
Null;

-- index sqlite_autoindex_reservations_1
Null;

-- index sqlite_autoindex_sessions_1
Null;

-- index turns_by_next
CREATE INDEX turns_by_next ON turns (next);

-- table allowances
CREATE TABLE allowances (
    discussion TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    -- The day it counts on.
    day        INTEGER NOT NULL,
    -- What the discussion had spent when this began, and how much is set aside beyond that.
    base       INTEGER NOT NULL CHECK (base >= 0),
    amount     INTEGER NOT NULL CHECK (amount >= 0),
    -- The claim it was drawn under.
    fence      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- table attached
CREATE TABLE attached (
    discussion TEXT NOT NULL,
    client     TEXT NOT NULL,
    node       TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    PRIMARY KEY (discussion, client)
) STRICT, WITHOUT ROWID;

-- table commands
CREATE TABLE commands (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    discussion TEXT NOT NULL REFERENCES discussions (id),
    id         INTEGER NOT NULL,
    command    TEXT NOT NULL,
    at         INTEGER NOT NULL,
    UNIQUE (discussion, id)
) STRICT;

-- table deeds
CREATE TABLE deeds (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    tenant     TEXT NOT NULL,
    who        TEXT NOT NULL,
    action     TEXT NOT NULL,
    discussion TEXT NOT NULL,
    result     TEXT NOT NULL
) STRICT;

-- table discussion_logs
CREATE TABLE discussion_logs (
    id           TEXT NOT NULL PRIMARY KEY,
    project_id   TEXT NOT NULL REFERENCES discussions (id),
    agent_id     TEXT,
    role         TEXT NOT NULL,
    content      TEXT NOT NULL,
    turn_index   INTEGER NOT NULL,
    round_number INTEGER NOT NULL,
    metadata     TEXT NOT NULL CHECK (json_valid(metadata)),
    created_at   TEXT NOT NULL
) STRICT;

-- table discussion_participants
CREATE TABLE discussion_participants (
    id             TEXT NOT NULL PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES discussions (id),
    agent_id       TEXT,
    role           TEXT NOT NULL CHECK (role IN ('manager', 'leader', 'user', 'specialist')),
    sequence_order INTEGER NOT NULL,
    created_at     TEXT NOT NULL
) STRICT;

-- table discussion_state
CREATE TABLE discussion_state (
    id                 TEXT NOT NULL PRIMARY KEY,
    project_id         TEXT NOT NULL UNIQUE REFERENCES discussions (id),
    current_turn_index INTEGER NOT NULL,
    current_round      INTEGER NOT NULL,
    status             TEXT NOT NULL CHECK (status IN ('active', 'completed', 'paused')),
    created_at         TEXT NOT NULL,
    updated_at         TEXT NOT NULL
) STRICT;

-- table discussions
CREATE TABLE discussions (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    root        TEXT NOT NULL,          -- its own id where a person started it
    tenant      TEXT NOT NULL,          -- whose it is; empty for the machine's own user
    session     TEXT REFERENCES sessions (id),
    pattern     TEXT NOT NULL,
    topic       TEXT NOT NULL,
    key         TEXT NOT NULL,          -- discussion:{hash of the topic}
    simulated   INTEGER NOT NULL,
    opened_at   INTEGER NOT NULL,
    status      TEXT NOT NULL,
    success     INTEGER,
    synthesis   TEXT,
    ended_at    INTEGER,
    run         TEXT NOT NULL CHECK (run IN ('runnable', 'parked', 'over')),
    fence       INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,                   -- of the claim, where there is one
    runner      TEXT,                   -- the lock file of the owner's process
    lease_until INTEGER,
    hidden_at   INTEGER,                -- when retention hid it; only roots are hidden
    restored_at INTEGER,                -- when it was restored; kept as if it had ended then
    unindexed   INTEGER NOT NULL        -- 1 if the search index lacks its words or is outdated
, node TEXT REFERENCES nodes (id) ON DELETE SET NULL, flow INTEGER NOT NULL DEFAULT 1, needs TEXT NOT NULL DEFAULT '[]', turn INTEGER NOT NULL DEFAULT 0, ready_at INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, claimed_at INTEGER, stuck INTEGER NOT NULL DEFAULT 0, digest TEXT, title TEXT) STRICT;

-- table facts
CREATE TABLE facts (
    discussion INTEGER NOT NULL REFERENCES discussions (number),
    seq        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    active_ms  INTEGER NOT NULL,
    step       TEXT,
    type       TEXT NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (discussion, seq)
) STRICT;

-- table identity
CREATE TABLE identity (
    store TEXT NOT NULL
) STRICT;

-- table maintenance
CREATE TABLE maintenance (
    forgetting INTEGER NOT NULL CHECK (forgetting IN (0, 1))
) STRICT;

-- table memory
CREATE TABLE memory (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER,
    origin TEXT NOT NULL,
    UNIQUE (tenant, namespace, key, version),
    UNIQUE (tenant, origin)
) STRICT;

-- table moved
CREATE TABLE moved (
    source TEXT NOT NULL,
    name   TEXT NOT NULL,
    upto   INTEGER NOT NULL,
    PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;

-- table nodes
CREATE TABLE nodes (
    id       TEXT NOT NULL PRIMARY KEY,
    beat     INTEGER NOT NULL,
    name     TEXT NOT NULL,
    version  TEXT NOT NULL,
    config   TEXT NOT NULL,
    lease_ms INTEGER NOT NULL,
    draining INTEGER NOT NULL,
    runner   TEXT NOT NULL            -- the lock file of its process
) STRICT, WITHOUT ROWID;

-- table outcomes
CREATE TABLE outcomes (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    discussion TEXT NOT NULL REFERENCES discussions (id),
    tenant     TEXT NOT NULL,
    simulated  INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    answer     TEXT NOT NULL,
    said_by    TEXT NOT NULL,
    at         INTEGER NOT NULL,
    scored     TEXT NOT NULL
) STRICT;

-- table reservations
CREATE TABLE reservations (
    tenant     TEXT NOT NULL,
    key        TEXT NOT NULL,
    digest     TEXT NOT NULL,
    discussion TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;

-- table search
CREATE VIRTUAL TABLE search USING fts5 (
    topic,
    synthesis,
    talk,
    content = '',
    contentless_delete = 1,
    tokenize = 'ascii'
);

-- table search_config
CREATE TABLE 'search_config'(k PRIMARY KEY, v) WITHOUT ROWID;

-- table search_data
CREATE TABLE 'search_data'(id INTEGER PRIMARY KEY, block BLOB);

-- table search_docsize
CREATE TABLE 'search_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER);

-- table search_idx
CREATE TABLE 'search_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

-- table sessions
CREATE TABLE sessions (
    id         TEXT NOT NULL PRIMARY KEY,
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- table spending
CREATE TABLE spending (
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL,
    day    INTEGER NOT NULL,
    spent  INTEGER NOT NULL CHECK (spent >= 0),
    PRIMARY KEY (tenant, name, day)
) STRICT, WITHOUT ROWID;

-- table sqlite_sequence
CREATE TABLE sqlite_sequence(name,seq);

-- table turns
CREATE TABLE turns (
    tenant TEXT NOT NULL PRIMARY KEY,
    next   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- trigger a_discussion_stays_whose_it_is
CREATE TRIGGER a_discussion_stays_whose_it_is
BEFORE UPDATE OF tenant ON discussions
BEGIN
    SELECT RAISE(ABORT, 'a discussion stays whose it is');
END;

-- trigger commands_are_not_replaced
CREATE TRIGGER commands_are_not_replaced
BEFORE INSERT ON commands
WHEN EXISTS (SELECT 1 FROM commands WHERE number = NEW.number)
    OR EXISTS (SELECT 1 FROM commands WHERE discussion = NEW.discussion AND id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'a command is not replaced');
END;

-- trigger commands_are_only_forgotten
CREATE TRIGGER commands_are_only_forgotten
BEFORE DELETE ON commands WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'commands are removed by retention only');
END;

-- trigger commands_never_change
CREATE TRIGGER commands_never_change
BEFORE UPDATE ON commands
BEGIN
    SELECT RAISE(ABORT, 'a command never changes');
END;

-- trigger deeds_are_not_replaced
CREATE TRIGGER deeds_are_not_replaced
BEFORE INSERT ON deeds WHEN EXISTS (SELECT 1 FROM deeds WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'what was done is not replaced');
END;

-- trigger deeds_are_only_forgotten
CREATE TRIGGER deeds_are_only_forgotten
BEFORE DELETE ON deeds WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'what was done is removed by retention only');
END;

-- trigger deeds_never_change
CREATE TRIGGER deeds_never_change
BEFORE UPDATE ON deeds
BEGIN
    SELECT RAISE(ABORT, 'what was done never changes');
END;

-- trigger discussions_are_not_replaced
CREATE TRIGGER discussions_are_not_replaced
BEFORE INSERT ON discussions WHEN EXISTS (SELECT 1 FROM discussions WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'a discussion is not replaced');
END;

-- trigger discussions_are_not_replaced_by_number
CREATE TRIGGER discussions_are_not_replaced_by_number
BEFORE INSERT ON discussions WHEN EXISTS (SELECT 1 FROM discussions WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'a discussion is not replaced');
END;

-- trigger discussions_are_only_forgotten
CREATE TRIGGER discussions_are_only_forgotten
BEFORE DELETE ON discussions WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'discussions are removed by retention only');
END;

-- trigger discussions_keep_their_keys
CREATE TRIGGER discussions_keep_their_keys
BEFORE UPDATE ON discussions WHEN NEW.number IS NOT OLD.number OR NEW.id IS NOT OLD.id
BEGIN
    SELECT RAISE(ABORT, 'a discussion keeps its id');
END;

-- trigger facts_are_not_replaced
CREATE TRIGGER facts_are_not_replaced
BEFORE INSERT ON facts WHEN EXISTS (SELECT 1 FROM facts WHERE rowid = NEW.rowid)
BEGIN
    SELECT RAISE(ABORT, 'a fact is not replaced');
END;

-- trigger facts_are_only_forgotten
CREATE TRIGGER facts_are_only_forgotten
BEFORE DELETE ON facts WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'facts are removed by retention only');
END;

-- trigger facts_follow_each_other
CREATE TRIGGER facts_follow_each_other
BEFORE INSERT ON facts
WHEN NEW.seq <> (SELECT ifnull(max(seq), 0) + 1 FROM facts WHERE discussion = NEW.discussion)
BEGIN
    SELECT RAISE(ABORT, 'a fact follows the last one');
END;

-- trigger facts_never_change
CREATE TRIGGER facts_never_change
BEFORE UPDATE ON facts
BEGIN
    SELECT RAISE(ABORT, 'a fact never changes');
END;

-- trigger finished_digests_never_change
CREATE TRIGGER finished_digests_never_change
BEFORE UPDATE OF flow, needs, digest ON discussions
WHEN OLD.run = 'over'
BEGIN
    SELECT RAISE(ABORT, 'a finished discussion never changes');
END;

-- trigger finished_discussions_hear_no_commands
CREATE TRIGGER finished_discussions_hear_no_commands
BEFORE INSERT ON commands
WHEN (SELECT run FROM discussions WHERE id = NEW.discussion) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'a finished discussion takes no commands');
END;

-- trigger finished_discussions_log_nothing
CREATE TRIGGER finished_discussions_log_nothing
BEFORE INSERT ON discussion_logs
WHEN (SELECT run FROM discussions WHERE id = NEW.project_id) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'nothing is said in a finished discussion');
END;

-- trigger finished_discussions_never_change
CREATE TRIGGER finished_discussions_never_change
BEFORE UPDATE OF number, id, root, session, pattern, topic, key, simulated, opened_at, status, success, synthesis,
    ended_at, run ON discussions
WHEN OLD.run = 'over'
BEGIN
    SELECT RAISE(ABORT, 'a finished discussion never changes');
END;

-- trigger finished_discussions_seat_nobody
CREATE TRIGGER finished_discussions_seat_nobody
BEFORE INSERT ON discussion_participants
WHEN (SELECT run FROM discussions WHERE id = NEW.project_id) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'nobody is added to a finished discussion');
END;

-- trigger finished_states_are_not_replaced
CREATE TRIGGER finished_states_are_not_replaced
BEFORE INSERT ON discussion_state
WHEN (SELECT run FROM discussions WHERE id = NEW.project_id) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'the state of a finished discussion never changes');
END;

-- trigger finished_states_never_change
CREATE TRIGGER finished_states_never_change
BEFORE UPDATE ON discussion_state
WHEN (SELECT run FROM discussions WHERE id = OLD.project_id) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'the state of a finished discussion never changes');
END;

-- trigger logs_are_not_replaced
CREATE TRIGGER logs_are_not_replaced
BEFORE INSERT ON discussion_logs
WHEN EXISTS (SELECT 1 FROM discussion_logs WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM discussion_logs WHERE rowid = NEW.rowid)
BEGIN
    SELECT RAISE(ABORT, 'what was said is not replaced');
END;

-- trigger logs_are_only_forgotten
CREATE TRIGGER logs_are_only_forgotten
BEFORE DELETE ON discussion_logs WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'what was said is removed by retention only');
END;

-- trigger logs_never_change
CREATE TRIGGER logs_never_change
BEFORE UPDATE ON discussion_logs
BEGIN
    SELECT RAISE(ABORT, 'what was said never changes');
END;

-- trigger memory_is_not_changed
CREATE TRIGGER memory_is_not_changed BEFORE UPDATE ON memory
BEGIN
    SELECT RAISE(ABORT, 'a version is not changed');
END;

-- trigger outcomes_are_not_changed
CREATE TRIGGER outcomes_are_not_changed BEFORE UPDATE ON outcomes
BEGIN
    SELECT RAISE(ABORT, 'an outcome is corrected by another one');
END;

-- trigger participants_are_not_replaced
CREATE TRIGGER participants_are_not_replaced
BEFORE INSERT ON discussion_participants
WHEN EXISTS (SELECT 1 FROM discussion_participants WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM discussion_participants WHERE rowid = NEW.rowid)
BEGIN
    SELECT RAISE(ABORT, 'who took part is not replaced');
END;

-- trigger participants_are_only_forgotten
CREATE TRIGGER participants_are_only_forgotten
BEFORE DELETE ON discussion_participants WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'who took part is removed by retention only');
END;

-- trigger participants_never_change
CREATE TRIGGER participants_never_change
BEFORE UPDATE ON discussion_participants
BEGIN
    SELECT RAISE(ABORT, 'who took part never changes');
END;

-- trigger states_are_not_replaced
CREATE TRIGGER states_are_not_replaced
BEFORE INSERT ON discussion_state
WHEN EXISTS (SELECT 1 FROM discussion_state WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM discussion_state WHERE project_id = NEW.project_id)
    OR EXISTS (SELECT 1 FROM discussion_state WHERE rowid = NEW.rowid)
BEGIN
    SELECT RAISE(ABORT, 'the state of a discussion is not replaced');
END;

-- trigger states_are_only_forgotten
CREATE TRIGGER states_are_only_forgotten
BEFORE DELETE ON discussion_state WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'the state of a discussion is removed by retention only');
END;

-- trigger states_keep_their_keys
CREATE TRIGGER states_keep_their_keys
BEFORE UPDATE ON discussion_state
WHEN NEW.id IS NOT OLD.id OR NEW.project_id IS NOT OLD.project_id OR NEW.rowid IS NOT OLD.rowid
BEGIN
    SELECT RAISE(ABORT, 'the state of a discussion keeps its id');
END;

-- trigger the_end_is_the_end
CREATE TRIGGER the_end_is_the_end
BEFORE INSERT ON facts
WHEN (SELECT run FROM discussions WHERE number = NEW.discussion) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'nothing is added to a finished discussion');
END;

-- in maintenance: 0
