-- Values that workflows keep, as versions that are never changed. `origin` names the use of a tool
-- that kept the value, so that the same use keeps it once.

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

CREATE TRIGGER memory_is_not_changed BEFORE UPDATE ON memory
BEGIN
    SELECT RAISE(ABORT, 'a version is not changed');
END;
