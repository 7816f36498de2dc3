// What users do with discussions in lists: rename them, delete them, and keep them in sessions.

import { get, post, remove } from './api.js';
import { dialog, h, notice, yesNo } from './dom.js';

/** Asks for another name, and sets it; `done(title)` is called then. */
export async function renamed(id, topic, done = () => {}) {
  const known = await get(`/api/discussions/${id}/title`).catch(() => ({}));
  const text = h('input', { value: known.title ?? topic.slice(0, LONGEST), maxlength: LONGEST, 'aria-label': 'Name', autofocus: true });
  const answer = await dialog(
    'Rename',
    h('p', {}, 'The question and the record stay as they are. An empty name shows the question again.'),
    text,
    yesNo('Rename'),
  );
  if (answer !== 'ok') return;
  if (await tried(post(`/api/discussions/${id}/title`, { title: text.value }))) {
    notice('Renamed.');
    done(text.value.trim());
  }
}

/** Deletes a discussion, if the user is sure. Returns whether it is gone. */
export async function deleted(id, topic) {
  const answer = await dialog(
    'Delete for good?',
    h('p', {}, h('b', {}, h('bdi', {}, topic))),
    h('p', {}, 'Everything that was said in it is removed, with the discussions inside it. This can’t be undone.'),
    yesNo('Delete'),
  );
  return answer === 'ok' && tried(remove(`/api/discussions/${id}`));
}

/** Asks for a name, and creates a session. Returns its id. */
export async function newSession() {
  const text = sessionName('');
  const answer = await dialog('New session', h('p', {}, 'A folder for discussions that belong together.'), text, yesNo('Create'));
  if (answer !== 'ok') return '';
  try {
    return (await post('/api/sessions', { name: text.value })).sessionId;
  } catch (error) {
    notice(error.message, 'error');
    return '';
  }
}

/** Asks for another name of a session, and sets it. Returns whether it was renamed. */
export async function renamedSession(id, name) {
  const text = sessionName(name);
  const answer = await dialog('Rename the session', text, yesNo('Rename'));
  return answer === 'ok' && tried(post(`/api/sessions/${id}`, { name: text.value }));
}

/** Deletes a session, if the user is sure. Returns whether it is gone. */
export async function deletedSession(id, name) {
  const answer = await dialog(
    'Delete the session?',
    h('p', {}, h('b', {}, h('bdi', {}, name))),
    h('p', {}, 'Only a session without discussions can be deleted; delete those first.'),
    yesNo('Delete'),
  );
  return answer === 'ok' && tried(remove(`/api/sessions/${id}`));
}

const sessionName = (value) =>
  h('input', { value, required: true, maxlength: LONGEST, 'aria-label': 'Name of the session', autofocus: true });

const LONGEST = 200;

async function tried(request) {
  try {
    await request;
    return true;
  } catch (error) {
    notice(error.message, 'error');
    return false;
  }
}
