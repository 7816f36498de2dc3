-- The name that a person gave a discussion, for lists. It is not part of the record, so it may
-- change when the discussion is over.
ALTER TABLE discussions ADD COLUMN title TEXT;
