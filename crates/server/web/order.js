// The form that starts a discussion.

import { get, post, Refused } from './api.js';
import { fill, h, notice } from './dom.js';
import { count, dollars, plural } from './figures.js';

/** The usual panel, where nothing else is known. */
const USUAL = 3;

/** What an order would come to is asked here, where the server can say. */
const PLAN = '/api/plan';

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
  const pattern = h('select', { name: 'pattern' });
  const about = h('p.faint.hint');
  const seats = h('div.seats', { role: 'group', 'aria-label': 'Panel' });
  const me = h('input', { type: 'checkbox', name: 'me' });
  const called = h('input', {
    name: 'called',
    value: 'me',
    maxlength: 40,
    'aria-label': 'Your name at the table',
    hidden: true,
  });
  const method = h('select', { name: 'consensus' });
  const field = (label, input, hint) =>
    h(
      'label.field',
      { data: { field: input.name } },
      h('span', {}, label),
      input,
      hint && h('span.faint.hint', {}, hint),
    );
  const number = (name, props) => h('input', { name, type: 'number', ...props });
  const more = h(
    'details.more',
    {},
    h('summary', {}, 'More'),
    h(
      'div.fields',
      {},
      field('Decided by', method),
      field('Threshold', number('threshold', { min: 0, max: 1, step: 0.05, placeholder: '0.5' })),
    ),
    field('What may be voted for, one a line', h('textarea', { name: 'votingOptions', rows: 2 })),
    field('What everyone should know beforehand', h('textarea', { name: 'context', rows: 3 })),
    h(
      'div.fields',
      {},
      field('Judge (debates)', h('input', { name: 'judge', placeholder: 'one of the panel' })),
      field('Calls at most', number('maxCalls', { min: 1 })),
    ),
  );
  const plan = h('div.plan', { hidden: true, 'aria-live': 'polite' });
  const wrong = h('div.wrong', { role: 'alert', hidden: true });
  const go = h('button.primary.large', {}, 'Start the discussion');
  const form = h(
    'form.order.card',
    { 'aria-label': 'Start a discussion', on: { submit } },
    h('h1', {}, 'Ask the panel'),
    topic,
    field('How they talk', pattern),
    about,
    h('fieldset', {}, h('legend', {}, 'Panel'), seats, h('label.choice', {}, me, 'Keep a seat for me'), called),
    h(
      'div.fields',
      {},
      field('Rounds', number('rounds', { min: 1, max: 10, placeholder: 'usual' })),
      field('Money, USD', number('maxCost', { min: 0, step: 0.01, placeholder: 'no limit' })),
      field('Time, minutes', number('minutes', { min: 0.1, step: 0.1, placeholder: 'usual' })),
    ),
    more,
    plan,
    wrong,
    go,
  );
  let [patterns, timer, canPlan] = [[], 0, true];

  me.addEventListener('change', () => {
    called.hidden = !me.checked;
  });
  pattern.addEventListener('change', describe);
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
      const [found, methods, providers] = await Promise.all(
        ['/api/patterns', '/api/consensus-methods', '/api/providers'].map(get),
      );
      patterns = found;
      fill(
        pattern,
        found.map((it) => h('option', { value: it.name }, it.name)),
      );
      fill(
        method,
        h('option', { value: '' }, 'usual'),
        methods.map((it) => h('option', { value: it.name, title: it.summary }, it.name)),
      );
      const isReal = providers.some((it) => it.available);
      const chosen = new Set(
        providers
          .filter((it) => it.available || !isReal)
          .slice(0, USUAL)
          .map((it) => it.name),
      );
      fill(
        seats,
        providers.map((it) =>
          h(
            'label.choice.pill',
            { title: it.strengths.join(', ') },
            h('input', { type: 'checkbox', name: 'seat', value: it.name, checked: chosen.has(it.name) }),
            it.name,
            isReal && !it.available && h('small', {}, ' simulated only'),
          ),
        ),
      );
      describe();
    } catch (error) {
      notice(error.message, 'error');
    }
  }

  function describe() {
    about.textContent = patterns.find((it) => it.name === pattern.value)?.summary ?? '';
  }

  function request() {
    const data = new FormData(form);
    const panel = data.getAll('seat');
    const made = { topic: topic.value, pattern: pattern.value };
    if (me.checked) made.participants = [...panel, `${called.value.trim() || 'me'}:person`];
    else if (panel.length) made.providers = panel;
    for (const name of ['rounds', 'maxCost', 'threshold', 'maxCalls'])
      if (data.get(name)) made[name] = Number(data.get(name));
    if (data.get('minutes')) made.budgetMs = Math.round(Number(data.get('minutes')) * 60000);
    for (const name of ['consensus', 'context', 'judge'])
      if (data.get(name)?.trim()) made[name] = data.get(name).trim();
    const options = (data.get('votingOptions') ?? '')
      .split('\n')
      .map((it) => it.trim())
      .filter(Boolean);
    if (options.length) made.votingOptions = options;
    return made;
  }

  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    wrong.hidden = true;
    try {
      const { discussionId } = await post('/api/discussions', request(), {
        'Idempotency-Key': crypto.randomUUID?.() ?? String(Math.random()),
      });
      location.assign(`/d/${discussionId}`);
    } catch (error) {
      go.disabled = false;
      refused(error);
    }
  }

  function refused(error) {
    wrong.hidden = false;
    fill(
      wrong,
      error.fields?.length
        ? h(
            'ul',
            {},
            error.fields.map((it) => h('li', {}, h('b', {}, it.field), ` ${it.message}`)),
          )
        : error.message,
    );
  }

  /** What it would come to, where the server has a way to say so. */
  async function foresee() {
    if (!canPlan || !topic.value.trim()) return;
    try {
      const made = await post(PLAN, request());
      plan.hidden = false;
      fill(
        plan,
        h('b', {}, 'The plan: '),
        `${plural(made.usual.calls, 'call')}, about ${count(made.usual.tokens)} tokens, ${dollars(made.usual.costUsd)}; at the very most ${plural(made.most.calls, 'call')} and ${dollars(made.most.costUsd)}.`,
        made.unpriced?.length ? ` Unpriced: ${made.unpriced.join(', ')}.` : '',
        h(
          'ol',
          {},
          made.course.map((it) =>
            h(
              'li',
              {},
              `${it.round ? `Round ${it.round}, ` : ''}${it.phase}: ${it.asked.map((group) => group.join(' + ')).join(', then ')}`,
            ),
          ),
        ),
      );
    } catch (error) {
      plan.hidden = true;
      canPlan = error instanceof Refused && error.status === 400;
    }
  }
  return form;
}
