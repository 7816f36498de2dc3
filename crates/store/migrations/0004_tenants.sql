-- Several people on one server: whose a discussion is, which orders came twice, who did what.

-- Nothing is the machine's own user.
ALTER TABLE discussions ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN tenant TEXT NOT NULL DEFAULT '';

CREATE INDEX discussions_by_tenant ON discussions (tenant, opened_at, id) WHERE root = id;

CREATE TRIGGER a_discussion_stays_whose_it_is
BEFORE UPDATE OF tenant ON discussions
BEGIN
    SELECT RAISE(ABORT, 'a discussion stays whose it is');
END;

-- The discussion may not be there yet: the id is kept before anything is begun.
CREATE TABLE reservations (
    tenant     TEXT NOT NULL,
    key        TEXT NOT NULL,
    digest     TEXT NOT NULL,
    discussion TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;

CREATE INDEX reservations_by_discussion ON reservations (discussion);

-- Who did what, when; a discussion's deeds outlive it.
CREATE TABLE deeds (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    tenant     TEXT NOT NULL,
    who        TEXT NOT NULL,
    action     TEXT NOT NULL,
    discussion TEXT NOT NULL,
    result     TEXT NOT NULL
) STRICT;

CREATE INDEX deeds_by_tenant ON deeds (tenant, number);

CREATE TRIGGER deeds_never_change
BEFORE UPDATE ON deeds
BEGIN
    SELECT RAISE(ABORT, 'what was done never changes');
END;

CREATE TRIGGER deeds_are_only_forgotten
BEFORE DELETE ON deeds WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'what was done is removed by retention only');
END;
