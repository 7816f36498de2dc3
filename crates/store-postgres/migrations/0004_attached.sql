-- The clients that wait for a discussion, which is aborted when the last of them leaves.
CREATE TABLE attached (
    discussion uuid NOT NULL,
    client     uuid NOT NULL,
    node       uuid NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    PRIMARY KEY (discussion, client)
);
CREATE INDEX attached_by_node ON attached (node);
