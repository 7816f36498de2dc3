// Controls of a discussion, and its exports.

import { download, post } from './api.js';
import { dialog, fill, h, memo, notice, yesNo } from './dom.js';
import { isOver } from './fold.js';
import { deleted, renamed } from './manage.js';
import { askAgain } from './next.js';

const FORMATS = [
  ['markdown', 'md', 'Markdown'],
  ['html', 'html', 'Web page'],
  ['json', 'json', 'Result as JSON'],
  ['jsonl', 'jsonl', 'Record as JSONL'],
];

/**
 * `acted()` is called after any action that may resume the discussion, `rename(title)` when it has
 * another name.
 */
export function controls(id, acted, rename) {
  const buttons = h('span.buttons', { role: 'toolbar', 'aria-label': 'Controls' });
  const links = FORMATS.map(([format, ending, label]) => {
    const link = download(`/api/discussions/${id}/export?format=${format}`, `discussion-${id}.${ending}`);
    link.append(label);
    return h('li', {}, link);
  });
  const menu = dropdown('Export', links);
  const more = dropdown('More', []);
  const root = h('div.controls', {}, buttons, more, menu);
  const made = memo();
  let doable = {};
  let last = null;

  async function act(action, body) {
    try {
      const answer = await post(`/api/discussions/${id}/${action}`, body);
      acted();
      return answer ?? {};
    } catch (error) {
      notice(error.message, 'error');
      return null;
    }
  }

  const ACTIONS = {
    pause: ['Pause', () => act('pause'), 'Hold once those speaking are done'],
    resume: ['Resume', () => act('resume'), 'Go on'],
    note: [
      'Note…',
      async () => {
        const text = await write();
        if (text && (await act('note', { text }))) notice('Everyone asked from now on is shown your note.');
      },
      'Remark something everyone is shown',
    ],
    stop: [
      'Stop & synthesise',
      async () => {
        if (await sure('Stop here?', 'Nobody else is asked, and the answer is written from what was said.', 'Stop & synthesise')) await act('stop');
      },
      'Ask nobody else and conclude with what was said',
    ],
    abort: [
      'Abort',
      async () => {
        if (await sure('Abort?', 'It ends at once, and nobody is asked for a synthesis.', 'Abort')) await act('abort');
      },
      'End at once, without a synthesis',
    ],
    again: ['Again…', () => askAgain(id, last), 'Hold the discussion once more, as it was or with changes'],
    compare: ['Compare…', () => location.assign(`/compare?a=${id}`), 'Beside another discussion'],
    rate: [
      'Rate…',
      async () => {
        const rating = Number(await rated());
        if (rating && (await act('rating', { rating }))) notice('Thank you.');
      },
      'Say how good the result was',
    ],
    resolve: [
      'Right answer…',
      async () => {
        const answer = await known(last?.spec?.options ?? []);
        const found = answer && (await act('outcome', { answer }));
        if (found) notice(outcome(found));
      },
      'Record what turned out to be right, so that later discussions learn from it',
    ],
    rename: ['Rename…', () => renamed(id, last.spec.topic, rename), 'Give it another name'],
    delete: [
      'Delete…',
      async () => {
        if (await deleted(id, last.spec.topic)) location.assign('/');
      },
      'Remove it with everything that was said',
    ],
  };

  const button = (it) =>
    h(
      `button.${it}`,
      { type: 'button', title: ACTIONS[it][2], data: { action: it }, on: { click: ACTIONS[it][1] } },
      ACTIONS[it][0],
    );
  const update = (state) => {
    last = state;
    const [names, rest] = actions(state);
    made([...names, '', ...rest].join(), () => {
      doable = Object.fromEntries([...names, ...rest].map((it) => [it, ACTIONS[it][1]]));
      fill(buttons, names.map(button));
      fill(more.lastChild, rest.map((it) => h('li', {}, button(it))));
      more.hidden = !rest.length;
    });
  };
  return {
    root,
    update,
    run: (action) => doable[action]?.(),
    openExport: () => {
      menu.open = true;
      menu.querySelector('a').focus();
    },
  };
}

/** What can be done: by a button each, and in a menu. */
function actions(state) {
  if (!state.spec) return [[], []];
  const isPart = Boolean(state.lineage);
  // A part of another discussion is in no list of its own.
  const kept = isPart ? [] : ['rename'];
  // A run is begun from its file, and there is nobody at its table to be shown a note.
  const again = state.spec.plan ? [] : ['again'];
  const gone = isPart ? [] : ['delete'];
  if (state.lifecycle === 'error') return [['resume', ...again, 'compare'], [...kept, ...gone]];
  if (isOver(state)) return [[...again, 'compare', 'rate'], [...(state.spec.plan ? [] : ['resolve']), ...kept, ...gone]];
  if (state.lifecycle === 'completing') return [['abort'], kept];
  const turn = state.lifecycle === 'paused' || state.wish === 'pause' ? 'resume' : 'pause';
  return [[turn, ...(state.spec.plan ? [] : ['note']), 'stop', 'abort'], kept];
}

// One listener for all menus: lists make new ones again and again.
document.addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (!menu.firstChild.contains(target)) menu.open = false;
});

/** A menu that closes when the user goes elsewhere. */
export function dropdown(label, items) {
  const menu = h('details.menu', {}, h('summary', {}, label), h('ul', {}, items));
  menu.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      menu.open = false;
      menu.querySelector('summary').focus();
    }
  });
  return menu;
}

async function write() {
  const text = h('textarea', {
    rows: 4,
    required: true,
    'aria-label': 'The note',
    autofocus: true,
    maxlength: 100000,
  });
  const answer = await dialog(
    'Note',
    h('p', {}, 'Everyone asked from now on is shown this. It is nobody’s turn.'),
    text,
    yesNo('Send'),
  );
  return answer === 'ok' ? text.value.trim() : '';
}

const sure = async (title, text, yes) => (await dialog(title, h('p', {}, text), yesNo(yes))) === 'ok';

const rated = () =>
  dialog(
    'How good was the result?',
    h(
      'menu.stars',
      {},
      [1, 2, 3, 4, 5].map((it) => h('button', { value: String(it), 'aria-label': `${it} of 5` }, '★'.repeat(it))),
    ),
  );

async function known(options) {
  const field = options.length
    ? h(
        'select',
        { 'aria-label': 'The right answer' },
        options.map((it) => h('option', { value: it }, it)),
        h('option', { value: 'wrong' }, 'None of them is known to be right, but the result was wrong'),
      )
    : h('input', { type: 'text', required: true, maxlength: 2000, 'aria-label': 'The right answer', autofocus: true });
  const answer = await dialog(
    'What turned out to be right?',
    h('p', {}, 'It is kept beside the record, which stays as it is. Recording it again corrects it.'),
    field,
    yesNo('Record'),
  );
  return answer === 'ok' ? field.value.trim() : '';
}

const RESULTS = new Map([
  [true, 'The result was right'],
  [false, 'The result was wrong'],
]);

const outcome = ({ resultRight, right, firstAnswers }) =>
  `${RESULTS.get(resultRight) ?? 'Recorded'}${firstAnswers ? `; ${right} of ${firstAnswers} first answers were right` : ''}.`;
