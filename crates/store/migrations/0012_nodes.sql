-- Several processes share the queue of discussions. A node is a process that runs them; its claims
-- end with its row. The columns owner, runner and lease_until of older versions are only respected
-- while a process of such a version is still running.

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

-- The next turn of each tenant in the queue.
CREATE TABLE turns (
    tenant TEXT NOT NULL PRIMARY KEY,
    next   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX turns_by_next ON turns (next);

ALTER TABLE discussions ADD COLUMN node TEXT REFERENCES nodes (id) ON DELETE SET NULL;
ALTER TABLE discussions ADD COLUMN flow INTEGER NOT NULL DEFAULT 1;
-- The providers without which it can't go on, as a JSON list.
ALTER TABLE discussions ADD COLUMN needs TEXT NOT NULL DEFAULT '[]';
ALTER TABLE discussions ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE discussions ADD COLUMN ready_at INTEGER NOT NULL DEFAULT 0;
-- How many runs in a row ended without progress.
ALTER TABLE discussions ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
-- The last fact when it was claimed; NULL once the claim was given up in good order.
ALTER TABLE discussions ADD COLUMN claimed_at INTEGER;
ALTER TABLE discussions ADD COLUMN stuck INTEGER NOT NULL DEFAULT 0;
-- What lists show besides the status, as JSON.
ALTER TABLE discussions ADD COLUMN digest TEXT;

UPDATE discussions
SET flow = ifnull((SELECT body ->> '$.flow' FROM facts WHERE discussion = number AND seq = 1), 1)
WHERE run <> 'over';

DROP INDEX discussions_that_could_go_on;
CREATE INDEX discussions_waiting ON discussions (turn, opened_at, id)
WHERE root = id AND run = 'runnable' AND node IS NULL AND stuck = 0;
CREATE INDEX discussions_by_node ON discussions (node) WHERE node IS NOT NULL;

-- Its place in the queue comes and goes; what lists show of a finished discussion does not.
CREATE TRIGGER finished_digests_never_change
BEFORE UPDATE OF flow, needs, digest ON discussions
WHEN OLD.run = 'over'
BEGIN
    SELECT RAISE(ABORT, 'a finished discussion never changes');
END;
