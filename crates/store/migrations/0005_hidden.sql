-- Retention in two steps: an expired discussion is hidden first, and removed days later.

-- When retention hid it; only roots are hidden.
ALTER TABLE discussions ADD COLUMN hidden_at INTEGER;
-- When it was brought back; it is kept as if it had ended then.
ALTER TABLE discussions ADD COLUMN restored_at INTEGER;

CREATE INDEX discussions_hidden ON discussions (hidden_at) WHERE hidden_at IS NOT NULL;
