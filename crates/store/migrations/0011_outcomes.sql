-- What turned out to be right, beside the record of a discussion. A correction is a further row;
-- the newest one of a discussion counts. `scored` has what follows for its answers, as JSON.

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

CREATE INDEX outcomes_by_tenant ON outcomes (tenant, simulated, number);
CREATE INDEX outcomes_by_discussion ON outcomes (discussion, number);

CREATE TRIGGER outcomes_are_not_changed BEFORE UPDATE ON outcomes
BEGIN
    SELECT RAISE(ABORT, 'an outcome is corrected by another one');
END;
