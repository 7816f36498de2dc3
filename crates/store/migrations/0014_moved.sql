-- What a move from another store has written here: discussions by their ids, and tables by their
-- names.
CREATE TABLE moved (
    source TEXT NOT NULL,
    name   TEXT NOT NULL,
    upto   INTEGER NOT NULL,
    PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;

-- The id of this store; there is none until one is asked for.
CREATE TABLE identity (
    store TEXT NOT NULL
) STRICT;
