// Two discussions side by side.

import { get } from './api.js';
import { bullets, fill, h, name, notice, simulated } from './dom.js';
import { count, decimals, dollars, duration, moment, words } from './figures.js';
import { markdown } from './markdown.js';
import { ended } from './panels.js';
import { draw } from './views.js';
import { learn, resultFields } from './vocabulary.js';

export function compare(main) {
  document.title = 'Compare · Quorum';
  const asked = new URLSearchParams(location.search);
  const side = (key, label) => ({
    key,
    id: asked.get(key) ?? '',
    select: h('select', { 'aria-label': label, on: { change: (event) => choose(key, event.target.value) } }),
    body: h('section.side', { 'aria-label': label, hidden: true }),
    found: null,
  });
  const sides = { a: side('a', 'The first discussion'), b: side('b', 'The second discussion') };
  const table = h('div.wide');
  const both = (of) => h('div.sides', {}, of(sides.a), of(sides.b));
  fill(
    main,
    h('header.head', {}, h('h1', {}, 'Side by side')),
    both((it) => it.select),
    table,
    both((it) => it.body),
  );

  function choose(key, id) {
    Object.assign(sides[key], { id, found: null });
    const query = new URLSearchParams(Object.values(sides).flatMap((it) => (it.id ? [[it.key, it.id]] : [])));
    history.replaceState(null, '', `/compare?${query}`);
    void load(sides[key]);
  }

  async function load(side) {
    const { id } = side;
    show(side);
    if (!/^[0-9a-f-]{36}$/i.test(id)) return;
    try {
      const [found, { title }] = await Promise.all(
        ['result', 'title'].map((it) => get(`/api/discussions/${id}/${it}`)).concat(learn()),
      );
      // Another discussion may have been chosen meanwhile.
      if (side.id === id) side.found = { ...found, title };
    } catch (error) {
      notice(error.message, 'error');
    }
    show(side);
  }

  function show(side) {
    side.body.hidden = !side.found;
    fill(side.body, side.found && shown(side.found));
    fill(table, sides.a.found && sides.b.found && figures(sides.a.found, sides.b.found));
  }

  async function offer() {
    const entries = await get('/api/discussions?limit=100').catch(() => []);
    for (const it of Object.values(sides)) fill(it.select, options(entries, it.id));
  }
  void offer();
  void load(sides.a);
  void load(sides.b);
  return {};
}

const options = (entries, chosen) => [
  h('option', { value: '' }, 'Choose a discussion…'),
  entries.map((it) =>
    h(
      'option',
      { value: it.discussionId, selected: it.discussionId === chosen },
      `${(it.title ?? it.topic).slice(0, 80)} — ${it.pattern}, ${moment(it.startedAt)}${it.simulated ? ', simulated' : ''}`,
    ),
  ),
];

function figures(a, b) {
  const share = ({ consensus: { agreementScore: it } }) => (it === undefined ? '–' : decimals(it, 2));
  const all = new Map([...fieldsOf(a), ...fieldsOf(b)].map((it) => [it.name, it]));
  const won = [...all.values()].filter((it) => it.view.kind === 'ballots' && (a[it.name] || b[it.name]));
  const rows = [
    ['Pattern', (it) => it.pattern],
    ['Decided by', (it) => words(it.consensus.method)],
    ['Panel', (it) => it.participatingProviders.join(', ')],
    ['Rounds', (it) => String(it.rounds.length)],
    ['Agreement', share],
    ['Changes of mind', (it) => String(it.flips?.length ?? 0)],
    ...won.map((field) => [`${field.title}: most`, (it) => it[field.name]?.winner || '–']),
    ['Tokens', (it) => count(it.metadata.totalTokens)],
    ['Cost', (it) => (it.metadata.estimatedCost === undefined ? 'unpriced' : dollars(it.metadata.estimatedCost))],
    ['Time', (it) => duration(it.totalDurationMs)],
    ['Status', ended],
  ];
  const line = ([label, of]) =>
    h(
      'tr',
      { class: of(a) === of(b) ? null : 'differs' },
      h('th', { scope: 'row' }, label),
      h('td', {}, h('bdi', {}, of(a))),
      h('td', {}, h('bdi', {}, of(b))),
    );
  return h('table.figures', {}, h('tbody', {}, rows.map(line)));
}

function shown(outcome) {
  const { consensus } = outcome;
  const list = (title, items) => items?.length > 0 && [h('h3', {}, title), bullets(items)];
  return [
    h('h2', {}, h('a', { href: `/d/${outcome.discussionId}` }, h('bdi', {}, outcome.title ?? outcome.topic))),
    outcome.title && h('p.faint', {}, h('bdi', {}, outcome.topic)),
    outcome.simulated && h('p', {}, simulated()),
    h(
      'div.said',
      {},
      outcome.synthesis ? markdown(outcome.synthesis) : h('p.faint', {}, 'There is no synthesis yet.'),
    ),
    list(
      'They agree',
      consensus.agreements,
    ),
    list(
      outcome.outcome?.kind === 'tie' ? 'Positions' : 'Dissent',
      consensus.dissent?.map((it) => [h('b', {}, name(it.provider)), `: ${it.position}`]),
    ),
    fieldsOf(outcome).map(({ title, name, view }) => {
      const drawn = draw(view, outcome[name], new Map(outcome.participatingProviders.map((it, index) => [it, { index }])));
      return drawn.length > 0 && [h('h3', {}, title), h('div.field-drawn', {}, drawn)];
    }),
    list(
      'Arguments',
      consensus.claims?.map((it) => [it.text, it.unanswered && h('span.tag.warn', {}, 'unanswered')]),
    ),
  ]
    .flat(Infinity)
    .filter(Boolean);
}

/** The fields that the pattern and method add to this result. */
const fieldsOf = (outcome) => resultFields(outcome.pattern, outcome.consensus.method);
