// Dialogs that continue a past discussion: ask again, or fork at a step. Each shows what changes,
// and what it costs and saves, before anything is asked.

import { get, post } from './api.js';
import { dialog, fill, h, name, neverMind, notice } from './dom.js';
import { field, optionField, options } from './fields.js';
import { mostRounds } from './fold.js';
import { money, plural, words } from './figures.js';
import { patternPicker } from './patterns.js';
import { described, refused } from './plan.js';
import { bare, seatEditor } from './seats.js';

const CATALOGUE = ['patterns', 'consensus-methods', 'detectors', 'providers', 'agents'];

/** Asks a discussion again, with changes. */
export const askAgain = (id, state) =>
  change(id, state, {
    title: 'Ask again',
    yes: 'Ask again',
    about: 'Everyone is asked again; the past discussion stays as it is.',
    path: 'again',
    body: (changes) => changes,
    planned: (changes) => ({ changes }),
  });

/** Forks a discussion at a step: its answers up to there are kept. */
export const fork = (id, state, step) =>
  change(id, state, {
    title: 'Go on from here in another way',
    yes: 'Fork',
    about: ['Everything up to ', h('b', { title: step }, placed(step)), ' stands, and only what is new is asked. Change something:'],
    path: 'fork',
    body: (changes) => forked(state, step, changes),
    planned: (changes) => forked(state, step, changes),
    kept: (count) => saved(state, count),
  });

/** A step in words: the round, the phase and whose turn it was. */
function placed(step) {
  const [round, phase, ...who] = step.split('/');
  return [Number(round) > 0 && `round ${round}`, words(phase ?? ''), who.join(' ')].filter(Boolean).join(', ');
}

/** A fork as the server takes it: seats that only leave are named, others replace the panel. */
function forked(state, at, { participants, ...changes }) {
  const before = seatsOf(state);
  if (!participants) return { at, changes };
  const leaving = before.filter((it) => !participants.includes(it));
  const isOnlyLeaving = participants.every((it) => before.includes(it)) && before.length - leaving.length === participants.length;
  if (!isOnlyLeaving) return { at, changes: { ...changes, participants } };
  return { at, without: leaving.map((it) => state.spec.participants[before.indexOf(it)].name), changes };
}

/** What the kept answers cost: they are the first ones of the record. */
function saved({ turns }, count) {
  const kept = turns.slice(0, count);
  const cost = kept.reduce((sum, it) => sum + (it.bill.cost ?? 0), 0);
  const tokens = kept.reduce((sum, it) => sum + it.bill.usage.prompt + it.bill.usage.completion, 0);
  if (!count) return 'No answer can be kept with these changes, so nothing is saved.';
  return `Saved: ${plural(count, 'answer')}, ${tokens.toLocaleString('en')} tokens${cost ? `, ${money(cost)}` : ''}.`;
}

/** The seats of a discussion as an order has them. */
function seatsOf({ spec }) {
  return spec.participants.map((it) => {
    if (it.person) return `${it.name}:person`;
    if (it.agent) return `${it.agent.id}:agent`;
    return it.model ? `${it.provider}/${it.model}` : it.provider;
  });
}

async function change(id, state, { title, yes, about, path, body, planned, kept }) {
  let found;
  try {
    found = await Promise.all(CATALOGUE.map((it) => get(`/api/${it}`)));
  } catch (error) {
    return notice(error.message, 'error');
  }
  const editor = changes(state, found);
  const wrong = h('div.wrong', { role: 'alert', hidden: true });
  const differences = h('div.differences', { 'aria-live': 'polite' });
  const plan = h('div.plan', { 'aria-live': 'polite' });
  const go = h('button.primary', { type: 'button', value: 'ok', on: { click: () => void start() } }, yes);
  let [asked, timer] = [0, 0];

  async function foresee() {
    const mine = ++asked;
    const made = editor.read();
    fill(differences, h('h3', {}, 'What changes'), changed(editor.told(made)));
    try {
      const known = await post(`/api/discussions/${id}/plan`, planned(made));
      if (mine !== asked) return;
      fill(plan, kept && h('p.saved', {}, kept(known.kept ?? 0)), described(known));
      go.disabled = false;
    } catch (error) {
      if (mine !== asked) return;
      fill(plan, h('div.faint', {}, refused(error)));
      go.disabled = true;
    }
  }

  async function start() {
    go.disabled = true;
    wrong.hidden = true;
    try {
      const { discussionId } = await post(`/api/discussions/${id}/${path}`, body(editor.read()), {
        'Idempotency-Key': crypto.randomUUID?.() ?? String(Math.random()),
      });
      location.assign(`/d/${discussionId}`);
    } catch (error) {
      go.disabled = false;
      wrong.hidden = false;
      fill(wrong, refused(error));
    }
  }

  editor.root.addEventListener('input', () => {
    go.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(foresee, 300);
  });
  // Enter in a field must not close the dialog.
  editor.root.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target.matches('input') && !event.ctrlKey && !event.metaKey) event.preventDefault();
  });
  void foresee();
  await dialog(
    title,
    h('p', {}, about),
    editor.root,
    h(
      'div.outlook',
      { tabIndex: 0, role: 'region', 'aria-label': 'What changes, and what it costs' },
      differences,
      plan,
      wrong,
      h('menu', {}, neverMind(), go),
    ),
  );
  clearTimeout(timer);
}

const changed = (lines) => (lines.length ? h('ul', {}, lines.map((it) => h('li', {}, it))) : h('p.faint', {}, 'Nothing yet.'));

/** The fields of what may change: `read()` returns what differs from the past order. */
function changes(state, [patterns, methods, detectors, providers, agents]) {
  const { spec } = state;
  const before = { seats: seatsOf(state), pattern: spec.pattern, rounds: String(mostRounds(spec)), consensus: spec.consensus.method };
  const own = h('div.options');
  const picker = patternPicker(() => declare());
  picker.offer(patterns);
  picker.choose(before.pattern);
  const panel = seatEditor();
  panel.offer(providers, agents, Boolean(spec.simulation));
  panel.write(before.seats);
  const rounds = h('input', { type: 'number', name: 'rounds', min: 1, max: 1000, value: before.rounds });
  const method = h('select', { name: 'consensus' });
  options(method, methods.map((it) => [it.name, words(it.name), it.summary]));
  method.value = before.consensus;
  let fields = [];

  /** The options that the pattern declares; a seat for a role, such as the judge, first. */
  function declare() {
    const declared = (picker.found()?.options ?? []).filter((it) => it.onSurfaces);
    const seats = declared.filter((it) => it.kind === 'seat');
    fields = [...seats, ...declared.filter((it) => it.kind !== 'seat')].map((it) => optionField(it, detectors));
    const isSame = picker.value() === before.pattern;
    const [first, rest] = [fields.slice(0, seats.length), fields.slice(seats.length)];
    fill(
      own,
      first.map((it) => it.root),
      rest.length > 0 && h('details.own', {}, h('summary', {}, `Options of ${picker.value()}`), h('div.options', {}, rest.map((it) => it.root))),
    );
    seat();
    for (const it of fields) {
      if (isSame && spec.settings?.[it.name] !== undefined) it.write(spec.settings[it.name]);
      it.before = JSON.stringify(it.read());
    }
  }

  function seat() {
    const known = new Map(spec.participants.map((it, at) => [before.seats[at], it.name]));
    fields.forEach((it) => it.seat(panel.read().map((seat) => known.get(seat) ?? bare(seat))));
  }
  panel.root.addEventListener('input', seat);
  declare();

  function read() {
    const made = {};
    if (picker.value() !== before.pattern) made.pattern = picker.value();
    const isLimited = spec.settings?.roundLimit !== undefined && !made.pattern;
    if (rounds.value && rounds.value !== before.rounds) made[isLimited ? 'roundLimit' : 'rounds'] = Number(rounds.value);
    if (method.value !== before.consensus) made.consensus = method.value;
    const seats = panel.read();
    if (seats.join() !== before.seats.join()) made.participants = seats;
    for (const it of fields) {
      const value = it.read();
      if (value !== undefined && JSON.stringify(value) !== it.before) made[it.name] = value;
    }
    return made;
  }

  /** The differences as lines. */
  function told({ pattern, rounds: count, consensus, participants, ...rest }) {
    const [gone, come] = [without(before.seats, participants ?? before.seats), without(participants ?? before.seats, before.seats)];
    return [
      pattern && `How they talk: ${before.pattern} → ${pattern}`,
      count && `Rounds: ${before.rounds} → ${count}`,
      consensus && `Decided by: ${words(before.consensus)} → ${words(consensus)}`,
      gone.length && ['Leave: ', gone.map((it, at) => [at > 0 && ', ', name(bare(it))])],
      come.length && ['Join: ', come.map((it, at) => [at > 0 && ', ', name(bare(it))])],
      ...Object.entries(rest).map(([key, value]) => `${words(key)}: ${typeof value === 'object' ? JSON.stringify(value) : value}`),
    ].filter(Boolean);
  }

  const root = h(
    'div.changes',
    {},
    h('fieldset', {}, h('legend', {}, 'How they talk'), picker.root),
    h('fieldset', {}, h('legend', {}, 'Panel'), panel.root),
    h('div.fields', {}, field('Rounds', rounds), field('Decided by', method)),
    own,
  );
  return { root, read, told };
}

/** The items of a list that another does not have; an item that is there twice counts twice. */
function without(list, other) {
  const left = [...other];
  return list.filter((it) => {
    const at = left.indexOf(it);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
