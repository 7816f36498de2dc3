-- Hidden discussions by the time from which retention counts: those that are to be shown again are
-- found without a look at all that are hidden.
CREATE INDEX discussions_hidden_by_age ON discussions ((greatest(coalesce(ended_at, 9223372036854775807), restored_at)))
WHERE hidden_at IS NOT NULL;
