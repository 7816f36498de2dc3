-- What a move from another store has written here: discussions by their ids, and tables by their
-- names.
CREATE TABLE moved (
    source uuid NOT NULL,
    name   text NOT NULL,
    upto   bigint NOT NULL,
    PRIMARY KEY (source, name)
);

-- The limits of a provider, over all nodes: when its next slot is free, and until when the provider
-- asked to wait.
CREATE TABLE lanes (
    name         text PRIMARY KEY,
    free_at      bigint NOT NULL DEFAULT 0,
    closed_until bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- The newest tables that a node's program knows, so that nothing is taken away that it uses.
ALTER TABLE nodes ADD COLUMN knows integer NOT NULL DEFAULT 1;
