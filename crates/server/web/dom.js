// Builds the page from elements with text. No code on this page turns text into markup.

import { visible } from './hidden.js';

/**
 * An element: h('p.note', { title, on: { click } }, 'text', node, …). Null, undefined and false are
 * ignored.
 */
export function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(props)) set(element, key, value);
  put(element, children);
  return element;
}

/** The same for SVG elements. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  put(element, children);
  return element;
}

function set(element, key, value) {
  if (value === null || value === undefined || value === false) return;
  if (key === 'on') {
    for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
  } else if (key === 'data') {
    Object.assign(element.dataset, value);
  } else if (key in PROPERTIES) {
    element[key] = value;
  } else {
    element.setAttribute(key, value === true ? '' : String(value));
  }
}

const PROPERTIES = { value: 1, checked: 1, disabled: 1, hidden: 1, open: 1, selected: 1, htmlFor: 1, tabIndex: 1 };

function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === 'string' ? visible(child) : child);
  }
}

/** A bulleted list of these items. */
export const bullets = (items) =>
  h(
    'ul',
    {},
    items.map((it) => h('li', {}, it)),
  );

/** A table with these column headings and rows of cells. */
export function table(heads, rows) {
  const row = (tag, cells) =>
    h(
      'tr',
      {},
      cells.map((it) => h(tag, {}, it)),
    );
  return h(
    'table',
    {},
    h('thead', {}, row('th', heads)),
    h(
      'tbody',
      {},
      rows.map((it) => row('td', it)),
    ),
  );
}

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  put(element, children);
  return element;
}

/** Sets a text only if it differs, so that screen readers don't repeat it. */
export function say(element, text) {
  const shown = visible(String(text ?? ''));
  if (element.textContent !== shown) element.textContent = shown;
}

/** Runs `build` if the key differs from that of the last call. */
export function memo() {
  let last;
  return (key, build) => {
    if (key === last) return;
    last = key;
    build();
  };
}

/** A participant's name, isolated from the writing direction around it. */
export const name = (text) => h('bdi', {}, text);

/** The mark of simulated contributions. */
export const simulated = () =>
  h('span.chip.warn', { title: 'No model was asked; what they say is made up' }, 'simulated');

/** The colour of a seat. */
export const seat = (index) => ({ seat: String(((index % 6) + 6) % 6) });

/** Sends a form with Ctrl+Enter from any of its fields, as its main button would. */
export function sends(form) {
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    const main = form.querySelector('button.primary');
    if (main?.type === 'button') main.click();
    else form.requestSubmit(main);
  });
}

/** A dialog that closes itself and returns the choice. */
export function dialog(title, ...children) {
  const heading = h('h2', { id: 'dialog-title' }, title);
  const form = h('form', { method: 'dialog' }, heading, children);
  sends(form);
  const element = h('dialog', { 'aria-labelledby': 'dialog-title' }, form);
  document.body.append(element);
  element.addEventListener('close', () => element.remove());
  element.addEventListener('click', (event) => {
    if (event.target === element) element.close('');
  });
  element.showModal();
  return new Promise((done) => element.addEventListener('close', () => done(element.returnValue), { once: true }));
}

/** The button that closes a dialog. It sends no form, so that Enter in a field means the other. */
export const neverMind = () =>
  h('button', { type: 'button', on: { click: (event) => event.target.closest('dialog').close('') } }, 'Never mind');

/** The buttons of a dialog that asks whether to go on. */
export const yesNo = (yes) => h('menu', {}, neverMind(), h('button.primary', { value: 'ok' }, yes));

let status;
let spoken = 0;
let waiting = '';

/** Announces a text to screen readers, at most every three seconds; only the latest counts. */
export function announce(text) {
  status ??= document.body.appendChild(h('div.unseen', { role: 'status', 'aria-live': 'polite' }));
  const due = spoken + 3000 - performance.now();
  if (waiting || due > 0) {
    if (!waiting)
      setTimeout(
        () => {
          const last = waiting;
          waiting = '';
          spoken = 0;
          announce(last);
        },
        Math.max(due, 0),
      );
    waiting = text;
    return;
  }
  spoken = performance.now();
  status.textContent = visible(text);
}

let notices;

/** A notice at the edge of the page that disappears by itself. */
export function notice(text, kind = 'info') {
  notices ??= document.body.appendChild(h('div.notices', { role: kind === 'info' ? 'status' : 'alert' }));
  const line = h(`p.notice.${kind}`, {}, text);
  notices.append(line);
  setTimeout(() => line.remove(), kind === 'info' ? 4000 : 9000);
}
