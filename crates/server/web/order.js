// The form that starts a discussion.

import { getAll, keep, post } from './api.js';
import { fill, h, memo, notice, sends } from './dom.js';
import { field, lines, optionField, options } from './fields.js';
import { patternPicker } from './patterns.js';
import { described, isMute, refused, unusual } from './plan.js';
import { bare, seatEditor } from './seats.js';

/** Fields that are sent as written, and fields that are numbers. */
const TEXTS = ['pattern', 'preset', 'consensus', 'windowStrategy', 'context'];
const NUMBERS = ['rounds', 'maxCost', 'maxCalls', 'recall'];

/** The lists to choose from. */
const CATALOGUE = ['patterns', 'consensus-methods', 'window-strategies', 'detectors', 'providers', 'presets', 'sessions', 'agents'];

const NEW = 'new';

/** The end of a seat that says what it is. */
const TYPED = /:(agent|person)$/;

/** A topic for plans that only ask who would take part. */
const ANY = '?';


export function order() {
  const topic = h('textarea', {
    name: 'topic',
    rows: 3,
    required: true,
    maxlength: 5000,
    placeholder: 'What should be discussed?',
    'aria-label': 'The question',
    autofocus: true,
  });
  const [preset, method, strategy, session] = ['preset', 'consensus', 'windowStrategy', 'session'].map((name) =>
    h('select', { name }),
  );
  const picker = patternPicker(() => describe());
  const panel = seatEditor();
  // The options of the pattern, of the method and of the strategy.
  const declared = [h('div.options'), h('div.options'), h('div.options')];
  const own = h('details.own', { hidden: true }, h('summary'), declared[0]);
  const me = h('input', { type: 'checkbox', name: 'me' });
  const offline = h('input', { type: 'checkbox', name: 'offline', autocomplete: 'off' });
  const madeUp = h('label.choice', { hidden: true }, offline, 'Simulated voices: no model is asked, and every answer is made up');
  const called = input('called', { value: 'me', maxlength: 40, 'aria-label': 'Your name at the table', hidden: true });
  const named = input('named', { maxlength: 200, 'aria-label': 'Name of the session', hidden: true });
  const presets = field('Start from', preset);
  presets.hidden = true;
  const plan = h('div.plan', { hidden: true, 'aria-live': 'polite' });
  const wrong = h('div.wrong', { role: 'alert', hidden: true });
  const go = h('button.primary.large', {}, 'Start the discussion');
  const form = h(
    'form.order.card',
    { 'aria-label': 'Start a discussion', on: { submit } },
    h('h1', {}, 'Ask the panel'),
    topic,
    presets,
    h('fieldset', {}, h('legend', {}, 'How they talk'), picker.root),
    h('fieldset', {}, h('legend', {}, 'Panel'), panel.root, h('label.choice', {}, me, 'Keep a seat for me'), called, madeUp),
    h(
      'div.fields',
      {},
      field('Rounds', number('rounds', { min: 1, max: 10, placeholder: 'usual' })),
      field('Money, USD', number('maxCost', { min: 0, step: 'any', placeholder: 'no limit' })),
      field('Time, minutes', number('minutes', { min: 0, step: 'any', placeholder: 'usual' })),
    ),
    own,
    more([method, declared[1]], [strategy, declared[2]], session, named),
    h('div.outlook', {}, plan, wrong, go),
  );
  let [patterns, methods, strategies, detectors, kept, timer, asked] = [[], [], [], [], [], 0, 0];
  // Who takes part if nobody is chosen, by pattern; and who does by the latest plan.
  const usual = new Map();
  let planned = [];
  // Fields keep their values while another pattern is selected.
  const [made, drawn] = [new Map(), memo()];
  let fields = [];

  me.addEventListener('change', () => (called.hidden = !me.checked));
  session.addEventListener('change', () => (named.hidden = session.value !== NEW));
  for (const it of [method, strategy]) it.addEventListener('change', describe);
  preset.addEventListener('change', () => {
    picker.choose(chosen().pattern);
    adopt(form, panel, chosen());
    describe();
    fields.filter((it) => it.name in chosen()).forEach((it) => it.write(chosen()[it.name]));
    own.open ||= fields.some((it) => it.name in chosen() && own.contains(it.root));
  });
  for (const it of [me, called]) it.addEventListener('change', seat);
  panel.root.addEventListener('input', seat);
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(foresee, 400);
  });
  sends(form);
  // A user who returns to this page may start another discussion.
  addEventListener('pageshow', () => (go.disabled = false));
  void load();

  async function load() {
    try {
      const found = await Promise.all(CATALOGUE.map((it) => getAll(`/api/${it}`)));
      const [providers, orders, sessions, agents] = found.slice(4);
      [patterns, methods, strategies, detectors, kept] = [...found.slice(0, 4), orders];
      const choice = (it) => [it.name, it.name, it.summary];
      const usual = (all) => [['', 'usual'], ...all.map(choice)];
      picker.offer(patterns);
      picker.choose(history.state);
      options(method, usual(methods));
      options(strategy, usual(strategies));
      options(preset, [['', 'nothing'], ...orders.map((it) => [it.name, it.name])]);
      options(session, [['', 'none'], ...sessions.map((it) => [it.sessionId, it.name]), [NEW, 'a new one…']]);
      presets.hidden = !orders.length;
      panel.offer(providers, agents);
      describe();
      // Plans with the values that the browser has restored.
      void foresee();
    } catch (error) {
      notice(error.message, 'error');
    }
  }

  /** Draws the options of the chosen pattern, and stores it for a return to this page. */
  function describe() {
    history.replaceState(picker.value(), '');
    const talk = picker.found();
    const by = methods.find((it) => it.name === (method.value || talk?.usual?.consensus));
    const shown = strategies.find((it) => it.name === strategy.value) ?? strategies[0];
    drawn([talk, by, shown].map((it) => it?.name).join(), () => declare([talk, by, shown]));
    seat();
  }

  /** Draws a field for each option that the selected ones declare, and for no other. */
  function declare(chosen) {
    const seen = new Set();
    const isNew = (it) => it.onSurfaces && !seen.has(it.name) && seen.add(it.name);
    const all = chosen.map((it) => (it?.options ?? []).filter(isNew).map(fieldOf));
    all.forEach((fields, at) => fill(declared[at], fields.map((it) => it.root)));
    own.hidden = !all[0].length;
    own.firstChild.textContent = `Options of ${chosen[0]?.name}`;
    fields = all.flat();
  }

  function fieldOf(option) {
    if (!made.has(option.name)) made.set(option.name, optionField(option, detectors));
    return made.get(option.name);
  }

  /** Tells the fields who the participants are. */
  function seat() {
    const seats = panel.read().map(bare);
    const names = seats.length || me.checked ? seats : [...planned];
    if (me.checked) names.push(called.value.trim() || 'me');
    fields.forEach((it) => it.seat(names));
  }

  /** The order, with the options that are shown. */
  async function whole() {
    const order = request(form, chosen(), panel.read(), await usualPanel());
    for (const it of fields) {
      const value = it.read();
      if (value !== undefined) order[it.name] = value;
    }
    return order;
  }

  /** Who takes part in such an order if it names nobody: the same as for the command. */
  async function usualPanel() {
    const order = { topic: ANY, pattern: picker.value(), preset: preset.value, offline: offline.checked };
    const sent = Object.fromEntries(Object.entries(order).filter(([, value]) => value));
    const key = JSON.stringify(sent);
    if (!usual.has(key)) {
      const { participants, simulated } = await post('/api/plan', sent).catch(() => ({ participants: [], simulated: false }));
      usual.set(key, { names: participants.filter((it) => !it.person).map((it) => it.participant), simulated });
    }
    const { names, simulated } = usual.get(key);
    panel.usual(names);
    panel.simulate(simulated);
    return names;
  }

  const chosen = () => kept.find((it) => it.name === preset.value)?.fields ?? {};

  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    wrong.hidden = true;
    try {
      if (session.value === NEW) await found();
      const { discussionId, panel: differs } = await post('/api/discussions', await whole(), {
        'Idempotency-Key': crypto.randomUUID?.() ?? String(Math.random()),
      });
      if (differs) keep(`quorum-panel-${discussionId}`, unusual(differs));
      location.assign(`/d/${discussionId}`);
    } catch (error) {
      go.disabled = false;
      wrong.hidden = false;
      fill(wrong, complaints(error));
    }
  }

  /** The problems; where too few models can be asked, the offer of simulated voices. */
  function complaints(error) {
    if (!isMute(error)) return refused(error);
    return [
      h('p', {}, 'Too few models are available. The server needs another key, or a local model.'),
      h('button', { type: 'button', on: { click: simulate } }, 'Use simulated voices'),
    ];
  }

  function simulate() {
    madeUp.hidden = false;
    offline.checked = true;
    wrong.hidden = true;
    void foresee();
  }

  /** Creates the requested session, and selects it. */
  async function found() {
    const { sessionId, name } = await post('/api/sessions', { name: named.value });
    session.prepend(h('option', { value: sessionId }, name));
    session.value = sessionId;
    named.hidden = true;
  }

  /** Shows the plan, or the problems with the order. */
  async function foresee() {
    const mine = ++asked;
    const order = await whole();
    if (!topic.value.trim()) {
      if (mine === asked) [plan.hidden, planned] = [true, await usualPanel()];
      return seat();
    }
    let [shown, who] = [null, planned];
    try {
      const made = await post('/api/plan', order);
      [shown, who] = [described(made), made.participants.map((it) => it.participant)];
    } catch (error) {
      shown = h('div.faint', {}, complaints(error));
    }
    if (mine !== asked) return;
    plan.hidden = false;
    fill(plan, shown);
    planned = who;
    seat();
  }
  return form;
}

/** Shows a preset's values in the form, where they can be changed. */
function adopt({ elements }, panel, given) {
  for (const name of [...TEXTS, ...NUMBERS])
    if (!['preset', 'pattern'].includes(name) && given[name] !== undefined) elements[name].value = given[name];
  if (given.budgetMs) elements.minutes.value = given.budgetMs / 60000;
  if (given.votingOptions) elements.votingOptions.value = given.votingOptions.join('\n');
  const seats = given.providers ?? given.participants;
  if (seats?.every((it) => typeof it === 'string')) panel.write(seats);
}

/**
 * The order: the values of the form. If no participants are chosen, those of its preset, or the
 * usual ones.
 */
function request(form, given, panel, usual) {
  const data = new FormData(form);
  const text = (name) => data.get(name)?.trim();
  const made = { topic: data.get('topic') };
  if (text('me')) {
    const others = panel.length ? panel : (given.participants ?? usual);
    made.participants = [...others, `${text('called') || 'me'}:person`];
  } else if (panel.some((it) => TYPED.test(it))) made.participants = panel;
  else if (panel.length) made.providers = panel;
  for (const name of TEXTS) if (text(name)) made[name] = text(name);
  for (const name of NUMBERS) if (text(name)) made[name] = Number(text(name));
  if (text('minutes')) made.budgetMs = Math.round(text('minutes') * 60000);
  if (data.has('offline')) made.offline = true;
  if (text('session') !== NEW && text('session')) made.sessionId = text('session');
  const votes = lines(data.get('votingOptions'));
  if (votes.length) made.votingOptions = votes;
  return made;
}

/** Fields that are seldom needed. */
const more = ([method, ofMethod], [strategy, ofStrategy], session, named) =>
  h(
    'details.more',
    {},
    h('summary', {}, 'More'),
    field('Decided by', method),
    ofMethod,
    field('What may be voted for, one a line', h('textarea', { name: 'votingOptions', rows: 2 })),
    field('What everyone should know beforehand', h('textarea', { name: 'context', rows: 3 })),
    field('When the talk outgrows a window', strategy),
    ofStrategy,
    h(
      'div.fields',
      {},
      field('Calls at most', number('maxCalls', { min: 1 })),
      field('Earlier discussions to recall', number('recall', { min: 1, max: 10, placeholder: 'none' })),
      field('Session', session),
    ),
    named,
  );

const input = (name, props) => h('input', { name, ...props });

const number = (name, props) => input(name, { type: 'number', ...props });
