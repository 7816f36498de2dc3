-- Everything of one store, in the first schema of the search path. Times are microseconds since
-- 1970, UTC. Texts are stored without NUL, which PostgreSQL can't hold; facts are JSON, where it is
-- escaped.

-- The time of the database, by which everything is decided that depends on the time of day.
CREATE FUNCTION now_us() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- Processes that run discussions. Their claims end with their rows.
CREATE TABLE nodes (
    id       uuid PRIMARY KEY,
    beat     bigint NOT NULL DEFAULT 0,
    name     text NOT NULL,
    version  text NOT NULL,
    config   text NOT NULL,
    lease_ms bigint NOT NULL,
    draining boolean NOT NULL DEFAULT false,
    channel  text NOT NULL               -- where its process listens
);

CREATE TABLE sessions (
    id         uuid PRIMARY KEY,
    tenant     text NOT NULL,
    name       text NOT NULL,
    created_at bigint NOT NULL
);
CREATE INDEX sessions_by_tenant ON sessions (tenant, created_at, id);

-- What is known of a discussion without reading its facts, and which node runs it. Each append
-- changes `last`, so rows have room to be changed in place, and no index has a column that most
-- appends change.
CREATE TABLE discussions (
    number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid NOT NULL UNIQUE,
    root         uuid NOT NULL,           -- its own id if a person started it
    tenant       text NOT NULL,           -- empty for the local user
    session      uuid,
    pattern      text NOT NULL,
    flow         integer NOT NULL,
    needs        text[] NOT NULL,         -- the providers without which it can't go on
    topic        text NOT NULL,
    key          text NOT NULL,           -- discussion:{hash of the topic}
    simulated    boolean NOT NULL,
    opened_at    bigint NOT NULL,
    status       text NOT NULL,
    success      boolean,
    synthesis    text,
    ended_at     bigint,
    digest       text,                    -- what lists show besides the status, as JSON
    run          text NOT NULL CHECK (run IN ('runnable', 'parked', 'over')),
    last         bigint NOT NULL,         -- the number of the last fact
    last_at      bigint NOT NULL,         -- its time
    written_at   bigint NOT NULL,         -- when it was written, by the database's clock
    last_command bigint NOT NULL DEFAULT 0,
    fence        bigint NOT NULL,
    node         uuid REFERENCES nodes (id) ON DELETE SET NULL,
    claimed_at   bigint,                  -- the last fact when it was claimed, until it is released
    attempts     integer NOT NULL DEFAULT 0,
    stuck        boolean NOT NULL DEFAULT false,
    turn         bigint NOT NULL,
    ready_at     bigint NOT NULL,
    hidden_at    bigint,                  -- when retention hid it; only roots are hidden
    restored_at  bigint,                  -- when it was restored; kept as if it had ended then
    unindexed    boolean NOT NULL         -- whether the search index lacks its words
) WITH (fillfactor = 70);

CREATE INDEX discussions_waiting ON discussions (turn, opened_at, id)
WHERE root = id AND run = 'runnable' AND node IS NULL AND NOT stuck;
CREATE INDEX discussions_of_tenant_waiting ON discussions (tenant)
WHERE root = id AND run = 'runnable' AND node IS NULL AND NOT stuck;
CREATE INDEX discussions_by_node ON discussions (node) WHERE node IS NOT NULL;
CREATE INDEX discussions_of_tenant_running ON discussions (tenant) WHERE node IS NOT NULL;
CREATE INDEX discussions_unfinished ON discussions (number) WHERE run <> 'over';
CREATE INDEX discussions_by_root ON discussions (root);
CREATE INDEX discussions_by_key ON discussions (key);
CREATE INDEX discussions_by_time ON discussions (opened_at, id) WHERE root = id;
CREATE INDEX discussions_by_tenant ON discussions (tenant, opened_at, id) WHERE root = id;
CREATE INDEX discussions_by_session ON discussions (session, opened_at, id) WHERE session IS NOT NULL;
CREATE INDEX discussions_ended ON discussions (ended_at)
WHERE root = id AND hidden_at IS NULL AND ended_at IS NOT NULL;
CREATE INDEX discussions_hidden ON discussions (hidden_at) WHERE hidden_at IS NOT NULL;
CREATE INDEX discussions_to_be_indexed ON discussions (number) WHERE unindexed;

-- No reference to `discussions`: every statement that writes facts has locked that row.
CREATE TABLE facts (
    discussion bigint NOT NULL,
    seq        bigint NOT NULL,
    at         bigint NOT NULL,
    active_ms  bigint NOT NULL,
    step       text,
    type       text NOT NULL,
    body       text NOT NULL,
    PRIMARY KEY (discussion, seq)
);

CREATE TABLE commands (
    discussion uuid NOT NULL,
    id         bigint NOT NULL,
    command    text NOT NULL,
    at         bigint NOT NULL,
    PRIMARY KEY (discussion, id)
);

-- The next turn of each tenant in the queue.
CREATE TABLE turns (
    tenant text PRIMARY KEY,
    next   bigint NOT NULL
);
CREATE INDEX turns_by_next ON turns (next);

-- The discussion may not be there yet: the id is kept before anything is begun.
CREATE TABLE reservations (
    tenant     text NOT NULL,
    key        text NOT NULL,
    digest     text NOT NULL,
    discussion uuid NOT NULL,
    at         bigint NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX reservations_by_discussion ON reservations (discussion);
CREATE INDEX reservations_by_time ON reservations (at);

CREATE TABLE audit (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         bigint NOT NULL,
    tenant     text NOT NULL,
    who        text NOT NULL,
    action     text NOT NULL,
    discussion uuid NOT NULL,
    result     text NOT NULL
);
CREATE INDEX audit_by_tenant ON audit (tenant, number);
CREATE INDEX audit_by_time ON audit (at);

-- What accounts spent by day, and what running discussions have set aside. Days count from 1970,
-- amounts are in billionths of a dollar.
CREATE TABLE spending (
    tenant text NOT NULL,
    name   text NOT NULL,
    day    bigint NOT NULL,
    spent  bigint NOT NULL CHECK (spent >= 0),
    PRIMARY KEY (tenant, name, day)
);

CREATE TABLE allowances (
    discussion uuid PRIMARY KEY,
    tenant     text NOT NULL,
    name       text NOT NULL,
    day        bigint NOT NULL,
    base       bigint NOT NULL CHECK (base >= 0),
    amount     bigint NOT NULL CHECK (amount >= 0),
    fence      bigint NOT NULL
);
CREATE INDEX allowances_by_account ON allowances (tenant, name, day);

-- Values that workflows keep, as versions that never change.
CREATE TABLE memory (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant    text NOT NULL,
    namespace text NOT NULL,
    key       text NOT NULL,
    version   bigint NOT NULL,
    value     text NOT NULL,
    at        bigint NOT NULL,
    expires   bigint,
    origin    text NOT NULL,
    UNIQUE (tenant, namespace, key, version),
    UNIQUE (tenant, origin)
);

-- What turned out to be right. A correction is a further row; the newest of a discussion counts.
CREATE TABLE outcomes (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    discussion uuid NOT NULL,
    tenant     text NOT NULL,
    simulated  boolean NOT NULL,
    answer     text NOT NULL,
    said_by    text NOT NULL,
    at         bigint NOT NULL,
    scored     text NOT NULL
);
CREATE INDEX outcomes_by_tenant ON outcomes (tenant, simulated, number);
CREATE INDEX outcomes_by_discussion ON outcomes (discussion, number);

-- The words of discussions that people started, as the program reads them. A word has as many
-- positions as it occurs (at most 255), with the weight A in the topic, B in the synthesis and D in
-- the turns; the positions themselves mean nothing.
CREATE TABLE search (
    discussion bigint PRIMARY KEY,
    length     integer NOT NULL,
    words      tsvector NOT NULL
);
CREATE INDEX search_by_word ON search USING gin (words);

-- The three tables of requirement C, written with the facts they follow from.
CREATE TABLE discussion_participants (
    id             uuid PRIMARY KEY,
    project_id     uuid NOT NULL,
    agent_id       text,
    role           text NOT NULL CHECK (role IN ('manager', 'leader', 'user', 'specialist')),
    sequence_order integer NOT NULL,
    created_at     text NOT NULL
);
CREATE INDEX discussion_participants_by_project ON discussion_participants (project_id, sequence_order);

CREATE TABLE discussion_state (
    id                 uuid PRIMARY KEY,
    project_id         uuid NOT NULL UNIQUE,
    current_turn_index integer NOT NULL,
    current_round      integer NOT NULL,
    status             text NOT NULL CHECK (status IN ('active', 'completed', 'paused')),
    created_at         text NOT NULL,
    updated_at         text NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE discussion_logs (
    id           uuid PRIMARY KEY,
    project_id   uuid NOT NULL,
    agent_id     text,
    role         text NOT NULL,
    content      text NOT NULL,
    turn_index   integer NOT NULL,
    round_number integer NOT NULL,
    metadata     text NOT NULL,
    created_at   text NOT NULL
);
CREATE INDEX discussion_logs_by_project ON discussion_logs (project_id);

-- What happened never changes, and only retention removes it, which says so in its transaction.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
    IF TG_OP = 'DELETE' AND current_setting('quorum.forgetting', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'rows of % never change, and only retention removes them', TG_TABLE_NAME;
END $$;

CREATE TRIGGER facts_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON facts
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER commands_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON commands
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_never_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER logs_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON discussion_logs
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER participants_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON discussion_participants
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER memory_never_changes BEFORE UPDATE ON memory
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER outcomes_never_change BEFORE UPDATE OR TRUNCATE ON outcomes
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER discussions_are_only_forgotten BEFORE DELETE OR TRUNCATE ON discussions
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_change_of_finished() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
    RAISE EXCEPTION 'a finished discussion never changes';
END $$;

CREATE TRIGGER finished_discussions_never_change
BEFORE UPDATE OF id, root, tenant, session, pattern, topic, key, simulated, opened_at, status, success,
    synthesis, ended_at, run, last ON discussions
FOR EACH ROW WHEN (OLD.run = 'over')
EXECUTE FUNCTION refuse_change_of_finished();
