// The frame around every page: navigation, light or dark theme, and keyboard shortcuts.

import { calibration } from './calibration.js';
import { compare } from './compare.js';
import { dialog, fill, h } from './dom.js';
import { home } from './home.js';
import { unknown, watch } from './watch.js';

const THEMES = { auto: '◐', light: '☀', dark: '☾' };

const KEYS = [
  ['?', 'Show these keys'],
  ['h', 'All discussions'],
  ['t', 'Light, dark, or as the system has it'],
  ['/', 'Search'],
  ['p', 'Pause or resume'],
  ['n', 'Note'],
  ['s', 'Stop and synthesise'],
  ['e', 'Export'],
  ['r', 'Go to your turn'],
  ['← →', 'One event back or on'],
  ['k', 'Play the past'],
  ['l', 'Back to now'],
  ['Ctrl+Enter', 'Send what you wrote'],
];

function theme() {
  const root = document.documentElement;
  const next = { auto: 'light', light: 'dark', dark: 'auto' }[root.dataset.theme ?? 'auto'];
  if (next === 'auto') delete root.dataset.theme;
  else root.dataset.theme = next;
  try {
    localStorage.setItem('quorum-theme', next);
  } catch {
    // Then it applies to this page only.
  }
  name(toggle, next);
}

function name(button, now) {
  button.textContent = THEMES[now];
  button.setAttribute('aria-label', `Colours: ${now}`);
  button.title = `Colours: ${now}`;
}

const help = () =>
  dialog(
    'Keys',
    h(
      'dl.keys',
      {},
      KEYS.map(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)]),
    ),
    h('menu', {}, h('button.primary', {}, 'Close')),
  );

const toggle = h('button.icon', { type: 'button', on: { click: theme } });
name(toggle, document.documentElement.dataset.theme ?? 'auto');
const main = h('main', { id: 'main', tabIndex: -1 });
const bar = h(
  'nav.top',
  { 'aria-label': 'Quorum' },
  h('a.brand', { href: '/' }, h('img', { src: '/assets/icon.svg', alt: '', width: 20, height: 20 }), 'Quorum'),
  h('span.grow'),
  h('a', { href: '/compare' }, 'Compare'),
  h('a', { href: '/calibration' }, 'Calibration'),
  h('a', { href: '/docs' }, 'API'),
  toggle,
  h('button.icon', { type: 'button', 'aria-label': 'Keys', title: 'Keys (?)', on: { click: help } }, '?'),
);
fill(document.getElementById('app'), h('a.skip', { href: '#main' }, 'Skip to the content'), bar, main);

function open() {
  const found = /^\/d\/([0-9a-f-]{36})$/i.exec(location.pathname);
  if (found) return watch(found[1], main);
  if (location.pathname.startsWith('/d/')) return unknown(main);
  const others = { '/compare': compare, '/calibration': calibration };
  return (others[location.pathname] ?? home)(main);
}

const own = open();
const keys = { '?': help, h: () => location.assign('/'), t: theme, ...own };

const WRITING = 'input:not([type=range], [type=checkbox], [type=radio]), textarea, select, dialog';

document.addEventListener('keydown', (event) => {
  const isWriting = event.target.closest?.(WRITING);
  if (isWriting || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  // Arrow keys scroll or move the focused element.
  if (event.key.startsWith('Arrow') && event.target.closest?.('.said, input')) return;
  event.preventDefault();
  keys[event.key]();
});
