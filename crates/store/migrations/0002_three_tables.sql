-- The three tables of requirement C, written with the facts they follow from.

CREATE TABLE discussion_participants (
    id             TEXT NOT NULL PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES discussions (id),
    agent_id       TEXT,
    role           TEXT NOT NULL CHECK (role IN ('manager', 'leader', 'user', 'specialist')),
    sequence_order INTEGER NOT NULL,
    created_at     TEXT NOT NULL
) STRICT;

CREATE INDEX discussion_participants_by_project ON discussion_participants (project_id, sequence_order);

CREATE TABLE discussion_state (
    id                 TEXT NOT NULL PRIMARY KEY,
    project_id         TEXT NOT NULL UNIQUE REFERENCES discussions (id),
    current_turn_index INTEGER NOT NULL,
    current_round      INTEGER NOT NULL,
    status             TEXT NOT NULL CHECK (status IN ('active', 'completed', 'paused')),
    created_at         TEXT NOT NULL,
    updated_at         TEXT NOT NULL
) STRICT;

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

CREATE INDEX discussion_logs_by_project ON discussion_logs (project_id);

CREATE TRIGGER logs_never_change
BEFORE UPDATE ON discussion_logs
BEGIN
    SELECT RAISE(ABORT, 'what was said never changes');
END;

CREATE TRIGGER logs_are_only_forgotten
BEFORE DELETE ON discussion_logs WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'what was said is removed by retention only');
END;
