-- A finished discussion refuses forged rows in every table, as `facts` and `discussions` do.

CREATE TRIGGER finished_discussions_hear_no_commands
BEFORE INSERT ON commands
WHEN (SELECT run FROM discussions WHERE id = NEW.discussion) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'a finished discussion takes no commands');
END;

CREATE TRIGGER commands_never_change
BEFORE UPDATE ON commands
BEGIN
    SELECT RAISE(ABORT, 'a command never changes');
END;

CREATE TRIGGER commands_are_only_forgotten
BEFORE DELETE ON commands WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'commands are removed by retention only');
END;

CREATE TRIGGER finished_discussions_seat_nobody
BEFORE INSERT ON discussion_participants
WHEN (SELECT run FROM discussions WHERE id = NEW.project_id) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'nobody is added to a finished discussion');
END;

CREATE TRIGGER participants_never_change
BEFORE UPDATE ON discussion_participants
BEGIN
    SELECT RAISE(ABORT, 'who took part never changes');
END;

CREATE TRIGGER participants_are_only_forgotten
BEFORE DELETE ON discussion_participants WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'who took part is removed by retention only');
END;

CREATE TRIGGER finished_states_are_not_replaced
BEFORE INSERT ON discussion_state
WHEN (SELECT run FROM discussions WHERE id = NEW.project_id) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'the state of a finished discussion never changes');
END;

CREATE TRIGGER finished_states_never_change
BEFORE UPDATE ON discussion_state
WHEN 'over' IN (SELECT run FROM discussions WHERE id = OLD.project_id OR id = NEW.project_id)
BEGIN
    SELECT RAISE(ABORT, 'the state of a finished discussion never changes');
END;

CREATE TRIGGER states_are_only_forgotten
BEFORE DELETE ON discussion_state WHEN (SELECT forgetting FROM maintenance) = 0
BEGIN
    SELECT RAISE(ABORT, 'the state of a discussion is removed by retention only');
END;

CREATE TRIGGER finished_discussions_log_nothing
BEFORE INSERT ON discussion_logs
WHEN (SELECT run FROM discussions WHERE id = NEW.project_id) = 'over'
BEGIN
    SELECT RAISE(ABORT, 'nothing is said in a finished discussion');
END;
