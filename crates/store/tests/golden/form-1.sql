-- index discussions_by_key
CREATE INDEX discussions_by_key ON discussions (key);

-- index discussions_by_root
CREATE INDEX discussions_by_root ON discussions (root);

-- index discussions_by_time
CREATE INDEX discussions_by_time ON discussions (opened_at, id) WHERE root = id;

-- index discussions_that_could_go_on
CREATE INDEX discussions_that_could_go_on ON discussions (opened_at, id) WHERE root = id AND run = 'runnable';

-- index discussions_to_be_indexed
CREATE INDEX discussions_to_be_indexed ON discussions (number) WHERE unindexed = 1;

-- index sqlite_autoindex_commands_1
Null;

-- index sqlite_autoindex_discussions_1
Null;

-- index sqlite_autoindex_facts_1
Null;

-- index sqlite_autoindex_sessions_1
Null;

-- table commands
CREATE TABLE commands (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    discussion TEXT NOT NULL REFERENCES discussions (id),
    id         INTEGER NOT NULL,
    command    TEXT NOT NULL,
    at         INTEGER NOT NULL,
    UNIQUE (discussion, id)
) STRICT;

-- table discussions
CREATE TABLE discussions (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    root        TEXT NOT NULL,          -- its own id where a person started it
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
    unindexed   INTEGER NOT NULL        -- 1 where its words are not yet in the index, or no longer right
) STRICT;

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

-- table maintenance
CREATE TABLE maintenance (
    forgetting INTEGER NOT NULL CHECK (forgetting IN (0, 1))
) STRICT;

-- table sessions
CREATE TABLE sessions (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- table sqlite_sequence
CREATE TABLE sqlite_sequence(name,seq);

-- trigger discussions_are_not_replaced
CREATE TRIGGER discussions_are_not_replaced
BEFORE INSERT ON discussions WHEN EXISTS (SELECT 1 FROM discussions WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'a discussion is not replaced');
END;

-- trigger discussions_are_only_forgotten
CREATE TRIGGER discussions_are_only_forgotten
BEFORE DELETE ON discussions WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'discussions are removed by retention only');
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

-- trigger finished_discussions_never_change
CREATE TRIGGER finished_discussions_never_change
BEFORE UPDATE OF number, id, root, session, pattern, topic, key, simulated, opened_at, status, success, synthesis,
    ended_at, run ON discussions
WHEN OLD.run = 'over'
BEGIN
    SELECT RAISE(ABORT, 'a finished discussion never changes');
END;

-- trigger the_end_is_the_end
CREATE TRIGGER the_end_is_the_end
BEFORE INSERT ON facts
WHEN (SELECT run FROM discussions WHERE number = NEW.discussion) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'nothing is added to a finished discussion');
END;

-- in maintenance: 0
