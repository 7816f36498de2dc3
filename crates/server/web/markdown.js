// Markdown as elements. Text of models is data: it becomes text in elements of our choosing and
// nothing else; links lead to http and https only, and images are not fetched.

import { copier } from './copy.js';
import { bullets, h, table as tabled } from './dom.js';
import { highlighted } from './highlight.js';

const DEEPEST = 6;

/** The elements for a text. */
export function markdown(text) {
  return blocks(String(text).replaceAll('\r\n', '\n').split('\n'), 0);
}

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w+#.-]{0,20})/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const ROW = /^\s*\|.*\|\s*$/;
const DIVIDER = /^\s*\|?[\s:|-]*-[\s:|-]*$/;

function blocks(lines, depth) {
  const out = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const kind = KINDS.find((it) => it.begins(line, lines[at + 1]));
    if (!line.trim()) at++;
    else if (kind && depth < DEEPEST) at = kind.take(lines, at, out, depth);
    else at = paragraph(lines, at, out);
  }
  return out;
}

function paragraph(lines, at, out) {
  const from = at++;
  const goesOn = () => lines[at].trim() && !KINDS.some((it) => it.begins(lines[at], lines[at + 1]));
  while (at < lines.length && goesOn()) at++;
  out.push(h('p', {}, lined(lines.slice(from, at))));
  return at;
}

/** The lines of a paragraph; two trailing spaces break a line. */
function lined(lines) {
  const last = lines.length - 1;
  return lines.map((line, at) => [inline(line.trim()), at < last && (line.endsWith('  ') ? h('br') : '\n')]);
}

const KINDS = [
  {
    begins: (line) => FENCE.test(line),
    take(lines, at, out) {
      const [, fence, language] = FENCE.exec(lines[at]);
      const from = ++at;
      while (at < lines.length && !lines[at].trimStart().startsWith(fence)) at++;
      const text = lines.slice(from, at).join('\n');
      const pre = h('pre', { tabIndex: 0 }, h('code', {}, highlighted(text, language)));
      out.push(h('div.code', {}, pre, copier(() => pre.textContent)));
      return at + 1;
    },
  },
  {
    begins: (line) => HEADING.test(line),
    take(lines, at, out) {
      const [, marks, text] = HEADING.exec(lines[at]);
      out.push(h(`h${Math.min(6, marks.length + 3)}`, {}, inline(text)));
      return at + 1;
    },
  },
  {
    begins: (line) => RULE.test(line),
    take: (lines, at, out) => {
      out.push(h('hr'));
      return at + 1;
    },
  },
  {
    begins: (line) => /^ {0,3}>/.test(line),
    take(lines, at, out, depth) {
      const inside = [];
      while (at < lines.length && /^ {0,3}>/.test(lines[at])) inside.push(lines[at++].replace(/^ {0,3}> ?/, ''));
      out.push(h('blockquote', {}, blocks(inside, depth + 1)));
      return at;
    },
  },
  { begins: (line) => ITEM.test(line), take: list },
  { begins: (line, next) => ROW.test(line) && DIVIDER.test(next ?? ''), take: table },
];

function list(lines, at, out, depth) {
  const [, { length: indent }, mark] = ITEM.exec(lines[at]);
  const isNumbered = /\d/.test(mark);
  const items = [];
  while (at < lines.length) {
    const found = ITEM.exec(lines[at]);
    if (!found || found[1].length < indent || /\d/.test(found[2]) !== isNumbered) break;
    const inside = [found[3]];
    const width = found[1].length + found[2].length + 1;
    for (at++; at < lines.length && belongs(lines, at, indent); at++)
      inside.push(lines[at].slice(Math.min(width, leading(lines[at]))));
    items.push(h('li', {}, tight(blocks(inside, depth + 1))));
  }
  const first = parseInt(mark, 10);
  out.push(h(isNumbered ? 'ol' : 'ul', { start: isNumbered && first !== 1 ? first : null }, items));
  return at;
}

const leading = (line) => line.length - line.trimStart().length;

function belongs(lines, at, indent) {
  const line = lines[at];
  if (!line.trim()) return at + 1 < lines.length && leading(lines[at + 1]) > indent && Boolean(lines[at + 1].trim());
  return (
    leading(line) > indent ||
    (!ITEM.test(line) && !KINDS.some((it) => it.begins(line)) && Boolean(lines[at - 1].trim()))
  );
}

/** An item that is a single paragraph loses its paragraph element. */
const tight = (nodes) => (nodes[0]?.tagName === 'P' ? [...nodes[0].childNodes, ...nodes.slice(1)] : nodes);

function table(lines, at, out) {
  const cells = (line) =>
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|')
      .slice(0, 20);
  const head = cells(lines[at]);
  const rows = [];
  for (at += 2; at < lines.length && ROW.test(lines[at]); at++) rows.push(cells(lines[at]));
  const texts = (row) => head.map((_, column) => inline((row[column] ?? '').trim()));
  out.push(h('div.wide', {}, tabled(texts(head), rows.map(texts))));
  return at;
}

// One pass from left to right: everything that does not match is text.
const INLINE =
  /\\([\\`*_{}[\]()#+.!|~>-])|(`+)([^`]|[^`].{0,1000}?[^`])\2(?!`)|(!?)\[([^[\]]{0,1000})\]\(\s*<?([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?)>?(?:\s+"[^"]{0,300}")?\s*\)|(\*\*|__)(?=\S)(.{0,1000}?\S)\7|(\*|_)(?=\S)([^*_]{0,1000}?[^\s*_])\9(?!\w)|~~(?=\S)(.{0,1000}?\S)~~|(https?:\/\/[^\s<>"'`)\]]{1,2000})/g;

function inline(text, depth = 0) {
  if (depth > DEEPEST) return [text];
  const out = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, escaped, , code, bang, label, address, , strong, mark, emphasis, struck, bare] = found;
    const before = text[found.index - 1] ?? '';
    if (mark === '_' && /\w/.test(before)) continue;
    out.push(text.slice(last, found.index));
    last = found.index + whole.length;
    if (escaped) out.push(escaped);
    else if (code !== undefined) out.push(h('code', {}, code.trim()));
    else if (label !== undefined) out.push(link(address, bang ? label || 'picture' : inline(label, depth + 1), bang));
    else if (strong) out.push(h('strong', {}, inline(strong, depth + 1)));
    else if (emphasis) out.push(h('em', {}, inline(emphasis, depth + 1)));
    else if (struck) out.push(h('s', {}, inline(struck, depth + 1)));
    else if (bare) {
      const address = bare.replace(/[.,;:!?]+$/, '');
      out.push(link(address, address), bare.slice(address.length));
    }
  }
  out.push(text.slice(last));
  return out;
}

/** A link if it leads to a page; otherwise only its text. */
function link(address, children, isPicture = '') {
  const safe = /^https?:\/\/[^\s]+$/i.test(address) && URL.canParse(address);
  if (!safe) return h('span', {}, children);
  return h(
    'a',
    { href: new URL(address).href, rel: 'noopener noreferrer nofollow', target: '_blank' },
    isPicture && '🖼 ',
    children,
  );
}

/** A structured reply for people to read; null if the text is not one. */
export function structured(text) {
  const trimmed = text.trim().replace(/^```(?:json)?\s*|\s*```$/g, '');
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return null;
  try {
    return h('div.form', {}, fields(JSON.parse(trimmed), 0));
  } catch {
    return null;
  }
}

function fields(value, depth) {
  if (depth > DEEPEST) return ['…'];
  if (Array.isArray(value))
    return value.length
      ? [bullets(value.slice(0, 100).map((it) => fields(it, depth + 1)))]
      : ['–'];
  if (value === null || typeof value !== 'object')
    return typeof value === 'string' ? tight(markdown(value)) : [String(value)];
  const named = (key) =>
    key
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .replaceAll(/[-_]/g, ' ')
      .toLowerCase();
  return [
    h(
      'dl',
      {},
      Object.entries(value)
        .slice(0, 100)
        .map(([key, it]) =>
          h(isShort(it) ? 'div.short' : 'div', {}, h('dt', {}, named(key)), h('dd', {}, fields(it, depth + 1))),
        ),
    ),
  ];
}

const isShort = (value) => typeof value !== 'object' && String(value).length < 40;
