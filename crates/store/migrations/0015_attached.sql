-- The clients that wait for a discussion, which is aborted when the last of them leaves.
CREATE TABLE attached (
    discussion TEXT NOT NULL,
    client     TEXT NOT NULL,
    node       TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    PRIMARY KEY (discussion, client)
) STRICT, WITHOUT ROWID;
CREATE INDEX attached_by_node ON attached (node);
