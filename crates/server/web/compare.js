// Two discussions side by side.

import { get } from './api.js';
import { fill, h, name, notice } from './dom.js';
import { count, dollars, duration, moment, words } from './figures.js';
import { markdown } from './markdown.js';

export function compare(main) {
  document.title = 'Compare · Quorum';
  const asked = new URLSearchParams(location.search);
  const chosen = { a: asked.get('a'), b: asked.get('b') };
  const sides = {
    a: h('section.side', { 'aria-label': 'The first' }),
    b: h('section.side', { 'aria-label': 'The second' }),
  };
  const table = h('div.wide');
  fill(main, h('header.head', {}, h('h1', {}, 'Side by side')), table, h('div.sides', {}, sides.a, sides.b));
  const found = {};

  async function load(side) {
    const id = chosen[side];
    fill(sides[side], await picker(side, id));
    if (!/^[0-9a-f-]{36}$/i.test(id ?? '')) return;
    try {
      found[side] = await get(`/api/discussions/${id}/result`);
      sides[side].append(...shown(found[side]));
      if (found.a && found.b) fill(table, figures(found.a, found.b));
    } catch (error) {
      notice(error.message, 'error');
    }
  }

  async function picker(side, id) {
    const entries = await get('/api/discussions?limit=100').catch(() => []);
    const option = (it) =>
      h(
        'option',
        { value: it.discussionId, selected: it.discussionId === id },
        `${it.topic.slice(0, 80)} — ${it.pattern}, ${moment(it.startedAt)}`,
      );
    const select = h(
      'select',
      { 'aria-label': 'Which discussion' },
      h('option', { value: '' }, 'Choose a discussion…'),
      entries.map(option),
    );
    select.addEventListener('change', () => {
      chosen[side] = select.value;
      const query = new URLSearchParams(Object.entries(chosen).filter(([, value]) => value));
      history.replaceState(null, '', `/compare?${query}`);
      delete found[side];
      fill(table);
      void load(side);
    });
    return select;
  }
  void load('a');
  void load('b');
  return {};
}

function figures(a, b) {
  const share = (it) => it.consensus.agreementScore?.toFixed(2) ?? '–';
  const rows = [
    ['Pattern', (it) => it.pattern],
    ['Decided by', (it) => words(it.consensus.method)],
    ['Panel', (it) => it.participatingProviders.join(', ')],
    ['Rounds', (it) => String(it.rounds.length)],
    ['Agreement', share],
    ['Changes of mind', (it) => String(it.flips?.length ?? 0)],
    ['Winner of the vote', (it) => it.votingResults?.winner ?? '–'],
    ['Tokens', (it) => count(it.metadata.totalTokens)],
    ['Cost', (it) => (it.metadata.estimatedCost === undefined ? 'unpriced' : dollars(it.metadata.estimatedCost))],
    ['Time', (it) => duration(it.totalDurationMs)],
    ['Status', (it) => words(it.status)],
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
  const { consensus, votingResults: votes } = outcome;
  const list = (title, items) => items?.length > 0 && [h('h3', {}, title), h('ul', {}, items)];
  return [
    h('h2', {}, h('a', { href: `/d/${outcome.discussionId}` }, h('bdi', {}, outcome.topic))),
    h(
      'div.said',
      {},
      outcome.synthesis ? markdown(outcome.synthesis) : h('p.faint', {}, 'There is no synthesis yet.'),
    ),
    list(
      'They agree',
      consensus.agreements?.map((it) => h('li', {}, it)),
    ),
    list(
      'Dissent',
      consensus.dissent?.map((it) => h('li', {}, h('b', {}, name(it.provider)), `: ${it.position}`)),
    ),
    votes &&
      list(
        'Votes',
        Object.entries(votes.votes).map(([option, number]) =>
          h('li', {}, `${option}: ${number} (${(votes.weightedVotes[option] ?? 0).toFixed(2)})`),
        ),
      ),
    list(
      'Arguments',
      consensus.claims?.map((it) => h('li', {}, it.text, it.unanswered && h('span.tag.warn', {}, 'unanswered'))),
    ),
  ]
    .flat()
    .filter(Boolean);
}
