-- What accounts spent, by day, and what running discussions have set aside for calls to come. An
-- account is a token of a tenant; the local user has neither name. Days count from 1970, amounts
-- are in billionths of a dollar.

CREATE TABLE spending (
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL,
    day    INTEGER NOT NULL,
    spent  INTEGER NOT NULL CHECK (spent >= 0),
    PRIMARY KEY (tenant, name, day)
) STRICT, WITHOUT ROWID;

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

CREATE INDEX allowances_by_account ON allowances (tenant, name, day);
