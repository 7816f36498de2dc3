-- REPLACE removes the rows in its way without firing the triggers on DELETE, and a row of one
-- discussion may be in the way of another's. So no row is replaced, by its key or by its rowid.

CREATE TRIGGER facts_are_not_replaced
BEFORE INSERT ON facts WHEN EXISTS (SELECT 1 FROM facts WHERE rowid = NEW.rowid)
BEGIN
    SELECT RAISE(ABORT, 'a fact is not replaced');
END;

CREATE TRIGGER discussions_are_not_replaced_by_number
BEFORE INSERT ON discussions WHEN EXISTS (SELECT 1 FROM discussions WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'a discussion is not replaced');
END;

CREATE TRIGGER discussions_keep_their_keys
BEFORE UPDATE ON discussions WHEN NEW.number IS NOT OLD.number OR NEW.id IS NOT OLD.id
BEGIN
    SELECT RAISE(ABORT, 'a discussion keeps its id');
END;

CREATE TRIGGER commands_are_not_replaced
BEFORE INSERT ON commands
WHEN EXISTS (SELECT 1 FROM commands WHERE number = NEW.number)
    OR EXISTS (SELECT 1 FROM commands WHERE discussion = NEW.discussion AND id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'a command is not replaced');
END;

CREATE TRIGGER deeds_are_not_replaced
BEFORE INSERT ON deeds WHEN EXISTS (SELECT 1 FROM deeds WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'what was done is not replaced');
END;

CREATE TRIGGER participants_are_not_replaced
BEFORE INSERT ON discussion_participants
WHEN EXISTS (SELECT 1 FROM discussion_participants WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM discussion_participants WHERE rowid = NEW.rowid)
BEGIN
    SELECT RAISE(ABORT, 'who took part is not replaced');
END;

CREATE TRIGGER states_are_not_replaced
BEFORE INSERT ON discussion_state
WHEN EXISTS (SELECT 1 FROM discussion_state WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM discussion_state WHERE project_id = NEW.project_id)
    OR EXISTS (SELECT 1 FROM discussion_state WHERE rowid = NEW.rowid)
BEGIN
    SELECT RAISE(ABORT, 'the state of a discussion is not replaced');
END;

CREATE TRIGGER states_keep_their_keys
BEFORE UPDATE ON discussion_state
WHEN NEW.id IS NOT OLD.id OR NEW.project_id IS NOT OLD.project_id OR NEW.rowid IS NOT OLD.rowid
BEGIN
    SELECT RAISE(ABORT, 'the state of a discussion keeps its id');
END;

CREATE TRIGGER logs_are_not_replaced
BEFORE INSERT ON discussion_logs
WHEN EXISTS (SELECT 1 FROM discussion_logs WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM discussion_logs WHERE rowid = NEW.rowid)
BEGIN
    SELECT RAISE(ABORT, 'what was said is not replaced');
END;

-- The state keeps its project, so only one discussion has to be looked up, and without IN, for
-- which SQLite fills a temporary table with a page cache of its own at every update.
DROP TRIGGER finished_states_never_change;

CREATE TRIGGER finished_states_never_change
BEFORE UPDATE ON discussion_state
WHEN (SELECT run FROM discussions WHERE id = OLD.project_id) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'the state of a finished discussion never changes');
END;
