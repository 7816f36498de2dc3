// All discussions: start one, find one, see which are under way.

import { get } from './api.js';
import { fill, h, memo, notice } from './dom.js';
import { moment, words } from './figures.js';
import { order } from './order.js';

const OVER = new Set(['completed', 'error', 'aborted']);

/** How often the list is looked at while somebody looks at it. */
const LOOK = 3000;

export function home(main) {
  document.title = 'Quorum';
  const search = h('input', {
    type: 'search',
    name: 'q',
    placeholder: 'Search what was asked and said',
    'aria-label': 'Search discussions',
  });
  const list = h('div.history', { 'aria-live': 'off' });
  const chosen = new Set();
  const compare = h('a.button', { hidden: true }, 'Compare these two');
  const past = h(
    'section.listing',
    { 'aria-label': 'Discussions' },
    h('header', {}, h('h2', {}, 'Discussions'), search, compare),
    list,
  );
  fill(main, h('div.home', {}, order(), past));
  const made = memo();
  let timer = 0;

  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, 200);
  });
  setInterval(() => {
    if (document.visibilityState === 'visible') void look();
  }, LOOK);
  void look();

  async function look() {
    const words = search.value.trim();
    try {
      const entries = await get(`/api/discussions?limit=100${words ? `&q=${encodeURIComponent(words)}` : ''}`);
      if (words === search.value.trim()) made(JSON.stringify(entries), () => show(entries, words));
    } catch (error) {
      made(`error ${error.message}`, () => notice(`The list could not be read: ${error.message}`, 'error'));
    }
  }

  function show(entries, words) {
    const [running, over] = [
      entries.filter((it) => !OVER.has(it.status)),
      entries.filter((it) => OVER.has(it.status)),
    ];
    const group = (title, all) => all.length > 0 && [h('h3', {}, title), h('ul', {}, all.map(row))];
    const none = words ? `Nothing was found for “${words}”.` : 'Nothing has been discussed yet.';
    fill(
      list,
      entries.length
        ? [group('Under way', running), group(running.length ? 'Earlier' : '', over)]
        : h('p.faint', {}, none),
    );
  }

  function row(entry) {
    const box = h('input', {
      type: 'checkbox',
      checked: chosen.has(entry.discussionId),
      'aria-label': `Choose “${entry.topic}” to compare`,
      on: { change: () => choose(entry.discussionId, box.checked) },
    });
    return h(
      'li.entry',
      { data: { status: entry.status } },
      h(
        'div',
        {},
        h('a', { href: `/d/${entry.discussionId}` }, h('bdi', {}, entry.topic)),
        entry.synthesis && h('p.faint.clip', {}, plain(entry.synthesis)),
        h(
          'p.meta',
          {},
          h('span.chip.state', { data: { lifecycle: entry.status } }, words(entry.status)),
          ` ${entry.pattern} · `,
          h('time', { datetime: entry.startedAt }, moment(entry.startedAt)),
          entry.simulated && ' · simulated',
        ),
      ),
      box,
    );
  }

  function choose(id, isChosen) {
    if (isChosen) chosen.add(id);
    else chosen.delete(id);
    const [a, b] = [...chosen].slice(-2);
    compare.hidden = chosen.size < 2;
    compare.href = `/compare?a=${a}&b=${b}`;
  }
  return { '/': () => search.focus() };
}

/** The words of a text without its marks, for a line in a list. */
const plain = (text) =>
  text
    .slice(0, 300)
    .replaceAll(/[#*_`>|]+/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
