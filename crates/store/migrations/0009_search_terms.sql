-- The search index holds words as the program reads them (without case and accents, long ones
-- without their endings) instead of leaving that to the tokenizer, so every text is indexed anew.
-- The words come with blanks between them; to this tokenizer every character that is not ASCII is
-- part of a word.
DROP TABLE search;

CREATE VIRTUAL TABLE search USING fts5 (
    topic,
    synthesis,
    talk,
    content = '',
    contentless_delete = 1,
    tokenize = 'ascii'
);

UPDATE discussions SET unindexed = 1 WHERE root = id;

-- Everything that decides whether a discussion may be found, so that a search needn't read the rows
-- with their long texts.
CREATE INDEX discussions_to_be_found
ON discussions (tenant, session, simulated, success, ended_at, opened_at)
WHERE root = id AND hidden_at IS NULL;
