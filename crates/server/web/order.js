// The form that starts a discussion.

import { get, post } from './api.js';
import { fill, h, notice } from './dom.js';
import { described, refused } from './plan.js';

/** The usual panel, where nothing else is known. */
const USUAL = 3;

/** Fields that are sent as they are written, and those that are numbers. */
const TEXTS = ['pattern', 'preset', 'consensus', 'context', 'judge', 'judgeFailure'];
const NUMBERS = ['rounds', 'maxCost', 'threshold', 'maxCalls'];

const FAILURES = [
  ['', 'usual'],
  ['swap', 'another judges'],
  ['go-without', 'go on without'],
  ['end', 'conclude'],
  ['ask', 'ask me'],
];

const NEW = 'new';

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
  const [pattern, preset, method, session] = ['pattern', 'preset', 'consensus', 'session'].map((name) =>
    h('select', { name }),
  );
  const about = h('p.faint.hint');
  const seats = h('div.seats', { role: 'group', 'aria-label': 'Panel' });
  const me = h('input', { type: 'checkbox', name: 'me' });
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
    h('div.fields', {}, field('How they talk', pattern), presets),
    about,
    h('fieldset', {}, h('legend', {}, 'Panel'), seats, h('label.choice', {}, me, 'Keep a seat for me'), called),
    h(
      'div.fields',
      {},
      field('Rounds', number('rounds', { min: 1, max: 10, placeholder: 'usual' })),
      field('Money, USD', number('maxCost', { min: 0, step: 'any', placeholder: 'no limit' })),
      field('Time, minutes', number('minutes', { min: 0, step: 'any', placeholder: 'usual' })),
    ),
    more(method, session, named),
    plan,
    wrong,
    go,
  );
  let [patterns, kept, timer, asked] = [[], [], 0, 0];

  me.addEventListener('change', () => (called.hidden = !me.checked));
  session.addEventListener('change', () => (named.hidden = session.value !== NEW));
  pattern.addEventListener('change', describe);
  preset.addEventListener('change', () => {
    adopt(form, chosen());
    describe();
  });
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(foresee, 400);
  });
  topic.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  // Who comes back to this page may order again.
  addEventListener('pageshow', () => (go.disabled = false));
  void load();

  async function load() {
    try {
      const names = ['patterns', 'consensus-methods', 'providers', 'presets', 'sessions'];
      const [found, methods, providers, orders, sessions] = await Promise.all(names.map((it) => get(`/api/${it}`)));
      [patterns, kept] = [found, orders];
      const choice = (it) => [it.name, it.name, it.summary];
      options(pattern, found.map(choice));
      if (history.state) pattern.value = history.state;
      options(method, [['', 'usual'], ...methods.map(choice)]);
      options(preset, [['', 'nothing'], ...orders.map((it) => [it.name, it.name])]);
      options(session, [['', 'none'], ...sessions.map((it) => [it.sessionId, it.name]), [NEW, 'a new one…']]);
      presets.hidden = !orders.length;
      fill(seats, pills(providers));
      describe();
      // What the browser kept from before is planned as what is written now.
      void foresee();
    } catch (error) {
      notice(error.message, 'error');
    }
  }

  /** Who comes back to this page finds what they chose. */
  function describe() {
    history.replaceState(pattern.value, '');
    about.textContent = patterns.find((it) => it.name === pattern.value)?.summary ?? '';
  }

  const chosen = () => kept.find((it) => it.name === preset.value)?.fields ?? {};

  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    wrong.hidden = true;
    try {
      if (session.value === NEW) await found();
      const { discussionId } = await post('/api/discussions', request(form, chosen()), {
        'Idempotency-Key': crypto.randomUUID?.() ?? String(Math.random()),
      });
      location.assign(`/d/${discussionId}`);
    } catch (error) {
      go.disabled = false;
      wrong.hidden = false;
      fill(wrong, refused(error));
    }
  }

  /** Makes the session that was asked for, and chooses it. */
  async function found() {
    const { sessionId, name } = await post('/api/sessions', { name: named.value });
    session.prepend(h('option', { value: sessionId }, name));
    session.value = sessionId;
    named.hidden = true;
  }

  /** What it would come to, or what stands in the way of it. */
  async function foresee() {
    if (!topic.value.trim()) return (plan.hidden = true);
    const mine = ++asked;
    let shown;
    try {
      shown = described(await post('/api/plan', request(form, chosen())));
    } catch (error) {
      shown = h('div.faint', {}, refused(error));
    }
    if (mine !== asked) return;
    plan.hidden = false;
    fill(plan, shown);
  }
  return form;
}

/** What a preset says is shown in the form, and can be changed there. */
function adopt({ elements }, given) {
  for (const name of [...TEXTS, ...NUMBERS])
    if (name !== 'preset' && given[name] !== undefined) elements[name].value = given[name];
  if (given.budgetMs) elements.minutes.value = given.budgetMs / 60000;
  if (given.votingOptions) elements.votingOptions.value = given.votingOptions.join('\n');
  if (given.providers ?? given.participants)
    for (const box of elements.seat) box.checked = Boolean(given.providers?.includes(box.value));
}

/** What is ordered: what is written in the form, and the guests of its preset where nobody else is chosen. */
function request(form, given) {
  const data = new FormData(form);
  const text = (name) => data.get(name)?.trim();
  const panel = data.getAll('seat');
  const made = { topic: data.get('topic') };
  if (text('me')) {
    const others = panel.length ? panel : (given.participants ?? []);
    made.participants = [...others, `${text('called') || 'me'}:person`];
  } else if (panel.length) made.providers = panel;
  for (const name of TEXTS) if (text(name)) made[name] = text(name);
  for (const name of NUMBERS) if (text(name)) made[name] = Number(text(name));
  if (text('minutes')) made.budgetMs = Math.round(text('minutes') * 60000);
  if (text('session') !== NEW && text('session')) made.sessionId = text('session');
  const votes = lines(data.get('votingOptions'));
  if (votes.length) made.votingOptions = votes;
  return made;
}

/** What is not needed every time. */
const more = (method, session, named) =>
  h(
    'details.more',
    {},
    h('summary', {}, 'More'),
    h(
      'div.fields',
      {},
      field('Decided by', method),
      field('Threshold', number('threshold', { min: 0, max: 1, step: 'any', placeholder: '0.5' })),
    ),
    field('What may be voted for, one a line', h('textarea', { name: 'votingOptions', rows: 2 })),
    field('What everyone should know beforehand', h('textarea', { name: 'context', rows: 3 })),
    h(
      'div.fields',
      {},
      field('Judge (debates)', input('judge', { placeholder: 'one of the panel' })),
      field('If the judge fails', options(h('select', { name: 'judgeFailure' }), FAILURES)),
    ),
    h('div.fields', {}, field('Calls at most', number('maxCalls', { min: 1 })), field('Session', session)),
    named,
  );

const input = (name, props) => h('input', { name, ...props });

const number = (name, props) => input(name, { type: 'number', ...props });

const field = (label, control) => h('label.field', {}, h('span', {}, label), control);

const options = (select, all) =>
  fill(
    select,
    all.map(([value, label, title]) => h('option', { value, title }, label)),
  );

const lines = (text) =>
  (text ?? '')
    .split('\n')
    .map((it) => it.trim())
    .filter(Boolean);

/** Everybody who could sit there; the first who can be asked do, unless said otherwise. */
function pills(providers) {
  const isReal = providers.some((it) => it.available);
  const usual = providers.filter((it) => it.available || !isReal).slice(0, USUAL);
  return providers.map((it) =>
    h(
      'label.choice.pill',
      { title: (isReal && it.lacks) || it.strengths.join(', ') },
      h('input', { type: 'checkbox', name: 'seat', value: it.name, checked: usual.includes(it) }),
      it.name,
      isReal && !it.available && h('small', {}, ' simulated only'),
    ),
  );
}
