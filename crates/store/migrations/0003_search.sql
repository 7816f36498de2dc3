-- The words of discussions that people started; the row's id is the discussion's number. The text itself is elsewhere.

CREATE VIRTUAL TABLE search USING fts5 (
    topic,
    synthesis,
    talk,
    content = '',
    contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2'
);
