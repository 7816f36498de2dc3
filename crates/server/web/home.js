// All discussions: start one, find one, see which are running.

import { get, getAll } from './api.js';
import { dropdown } from './controls.js';
import { fill, h, memo, say, simulated } from './dom.js';
import { dollars, moment } from './figures.js';
import { deleted, deletedSession, newSession, renamed, renamedSession } from './manage.js';
import { order } from './order.js';
import { ended, fellShort } from './panels.js';
import { alerted, titled } from './tab.js';

const OVER = new Set(['completed', 'error', 'aborted']);

const [AWAITED, UNDER_WAY, EARLIER] = ['Waiting for people', 'Under way', 'Earlier'];

/** The choice that makes a new session. */
const NEW = 'new';

/** The poll interval of the list while it is visible. */
const LOOK = 3000;

export function home(main) {
  titled('Quorum');
  const search = h('input', {
    type: 'search',
    name: 'q',
    placeholder: 'Search what was asked and said',
    'aria-label': 'Search discussions',
  });
  const list = h('div.history');
  const sessions = h('select', { 'aria-label': 'Session', hidden: true, on: { change: () => void chooseSession() } });
  const folder = dropdown('⋯', [
    h('li', {}, h('button', { type: 'button', on: { click: () => void renameSession() } }, 'Rename the session…')),
    h('li', {}, h('button', { type: 'button', on: { click: () => void deleteSession() } }, 'Delete the session…')),
  ]);
  folder.hidden = true;
  folder.firstChild.setAttribute('aria-label', 'More about this session');
  const lost = h('p.banner', { role: 'alert', hidden: true, data: { kind: 'error' } });
  const chosen = new Set();
  const compare = h('a.button', { hidden: true }, 'Compare these two');
  const past = h(
    'section.listing',
    { 'aria-label': 'Discussions' },
    h('header', {}, h('h2', {}, 'Discussions'), search, sessions, folder, compare),
    lost,
    list,
  );
  fill(main, h('div.home', {}, order(), past));
  const made = memo();
  let timer = 0;
  void fetchSessions();

  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, 200);
  });
  setInterval(() => {
    if (document.visibilityState === 'visible') void look();
  }, LOOK);
  void look();

  async function fetchSessions(chosen = '') {
    const all = await getAll('/api/sessions').catch(() => []);
    offer(sessions, all);
    sessions.value = chosen;
    folder.hidden = !sessions.value;
  }

  const sessionName = () => sessions.selectedOptions[0].textContent;

  async function renameSession() {
    const id = sessions.value;
    if (!(await renamedSession(id, sessionName()))) return;
    await fetchSessions(id);
    inForm(id, sessionName());
  }

  async function deleteSession() {
    const id = sessions.value;
    if (!(await deletedSession(id, sessionName()))) return;
    inForm(id, null);
    await fetchSessions();
    await look();
  }

  /** Shows the discussions of a session, which may be a new one. */
  async function chooseSession() {
    if (sessions.value === NEW) {
      sessions.value = '';
      const made = await newSession();
      if (made) {
        await fetchSessions(made);
        inForm(made, sessionName());
      }
    }
    folder.hidden = !sessions.value;
    const field = document.querySelector('.order select[name=session]');
    if (field && [...field.options].some((it) => it.value === sessions.value)) field.value = sessions.value;
    await look();
  }

  async function look() {
    const wanted = query();
    try {
      const entries = await get(`/api/discussions?${wanted}`);
      lost.hidden = true;
      if (wanted === query()) made(wanted + JSON.stringify(entries), () => show(entries, search.value.trim()));
    } catch (error) {
      lost.hidden = false;
      say(lost, `${error.message} What is listed here may be old.`);
    }
  }

  function query() {
    const asked = { limit: 100, q: search.value.trim(), sessionId: sessions.value };
    return String(new URLSearchParams(Object.entries(asked).filter(([, value]) => value)));
  }

  function show(entries, words) {
    const groups = Map.groupBy(entries, placed);
    alerted(groups.has(AWAITED));
    const group = (title) => groups.has(title) && [h('h3', {}, title), h('ul', {}, groups.get(title).map(row))];
    const where = sessions.value ? ' in this session' : '';
    const none = words ? `Nothing was found for “${words}”${where}.` : `Nothing has been discussed${where} yet. What you ask is kept here.`;
    fill(
      list,
      entries.length
        ? [AWAITED, UNDER_WAY, EARLIER].map(group)
        : h('p.faint', {}, none),
    );
  }

  function row(entry) {
    const title = entry.title ?? entry.topic;
    const box = h('input', {
      type: 'checkbox',
      value: entry.discussionId,
      title: 'Choose to compare',
      checked: chosen.has(entry.discussionId),
      'aria-label': `Choose “${title}” to compare`,
      on: { change: () => choose(entry.discussionId, box.checked) },
    });
    const menu = dropdown('⋯', [
      h('li', {}, h('button', { type: 'button', on: { click: () => void renamed(entry.discussionId, title, () => look()) } }, 'Rename…')),
      OVER.has(entry.status) &&
        h('li', {}, h('button', { type: 'button', on: { click: async () => (await deleted(entry.discussionId, title)) && look() } }, 'Delete…')),
    ]);
    menu.firstChild.setAttribute('aria-label', `More about “${title}”`);
    return h(
      'li.entry',
      { data: { status: entry.status } },
      h(
        'div',
        {},
        h('a', { href: `/d/${entry.discussionId}`, title: entry.title && entry.topic }, h('bdi', {}, title)),
        entry.synthesis && h('p.faint.clip', {}, plain(entry.synthesis)),
        h(
          'p.meta',
          {},
          h('span.chip.state', { data: { lifecycle: light(entry) } }, standing(entry)),
          entry.simulated && [' ', simulated()],
          ` ${entry.pattern} · `,
          h('time', { datetime: entry.startedAt }, moment(entry.startedAt)),
          entry.estimatedCost > 0 && ` · ${dollars(entry.estimatedCost)}`,
        ),
      ),
      menu,
      box,
    );
  }

  function choose(id, isChosen) {
    if (isChosen) chosen.add(id);
    else chosen.delete(id);
    // A third choice replaces the first.
    if (chosen.size > 2) chosen.delete([...chosen][0]);
    for (const it of list.querySelectorAll('input[type=checkbox]')) it.checked = chosen.has(it.value);
    const [a, b] = chosen;
    compare.hidden = chosen.size < 2;
    compare.href = `/compare?a=${a}&b=${b}`;
  }
  return { '/': () => search.focus() };
}

/** The states of a discussion that a process runs, unless it was interrupted. */
const BEGUN = new Set(['initializing', 'running', 'completing']);

const waits = (entry) => Boolean(entry.awaiting?.length || entry.rulingAwaited);

const placed = (entry) => (OVER.has(entry.status) ? EARLIER : waits(entry) ? AWAITED : UNDER_WAY);

/** The state by which an entry is coloured: nothing that fell short is green. */
function light(entry) {
  if (waits(entry)) return 'awaiting';
  if (entry.run === 'stuck') return 'error';
  return entry.status === 'completed' && fellShort({ ...entry.outcome, success: entry.success }) ? 'less' : entry.status;
}

/** The state, or whom the discussion waits for. */
function standing(entry) {
  const { awaiting, rulingAwaited, run } = entry;
  if (awaiting?.length) return `waiting for ${awaiting.map((it) => it.participant).join(' and ')}`;
  if (rulingAwaited) return 'a decision is awaited';
  if (run === 'stuck') return 'stuck: every attempt to go on failed';
  if (run === 'queued') return BEGUN.has(entry.status) ? 'interrupted' : 'queued';
  return ended(entry);
}

/** Offers the sessions, and a new one. */
function offer(select, sessions) {
  select.hidden = false;
  const all = [{ sessionId: '', name: 'All sessions' }, ...sessions, { sessionId: NEW, name: 'New session…' }];
  fill(
    select,
    all.map((it) => h('option', { value: it.sessionId }, it.name)),
  );
}

/** Offers a session under this name in the form for a new discussion, or removes it if unnamed. */
function inForm(id, name) {
  const field = document.querySelector('.order select[name=session]');
  const known = [...(field?.options ?? [])].find((it) => it.value === id);
  if (name === null) known?.remove();
  else if (known) known.textContent = name;
  else field?.options[0]?.after(h('option', { value: id }, name));
}

/** A text without Markdown marks, for a line in a list. */
const plain = (text) =>
  text
    .slice(0, 300)
    .replaceAll(/^\s*[-+] |[#*_`>|]+/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
