// What users do with discussions in lists: rename them, delete them, and make sessions for them.

import { get, post, remove } from './api.js';
import { dialog, h, notice, yesNo } from './dom.js';

/** Asks for another name, and sets it. */
export async function renamed(id, topic, done = () => {}) {
  const known = await get(`/api/discussions/${id}/title`).catch(() => ({}));
  const text = h('input', { value: known.title ?? topic.slice(0, LONGEST), maxlength: LONGEST, 'aria-label': 'Name in lists', autofocus: true });
  const answer = await dialog(
    'Rename',
    h('p', {}, 'The name is for lists only: the question and the record stay as they are. An empty name shows the question again.'),
    text,
    yesNo('Rename'),
  );
  if (answer !== 'ok') return;
  if (await tried(post(`/api/discussions/${id}/title`, { title: text.value }))) {
    notice('Renamed.');
    done();
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
  const text = h('input', { required: true, maxlength: LONGEST, 'aria-label': 'Name of the session', autofocus: true });
  const answer = await dialog('New session', h('p', {}, 'A folder for discussions that belong together.'), text, yesNo('Create'));
  if (answer !== 'ok') return '';
  try {
    return (await post('/api/sessions', { name: text.value })).sessionId;
  } catch (error) {
    notice(error.message, 'error');
    return '';
  }
}

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
