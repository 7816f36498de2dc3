// Colours for code: comments, strings, numbers and keywords, by rules that most languages share.
// Text becomes text in elements, as everywhere.

import { h } from './dom.js';

/** Longer code stays plain. */
const LONGEST = 20000;

const KEYWORDS = new Set(
  (
    'abstract and as async await begin bool boolean break case catch char class const constexpr continue crate def default ' +
    'defer del delete do double elif else elsif end enum except export extends extern false False final finally float fn for ' +
    'from func function go goto if impl implements import in include instanceof int interface is lambda let long loop match ' +
    'mod module move mut namespace new nil none None not null or package pass private protected pub public raise ref require ' +
    'return self Self select short signed sizeof static string struct super switch template then this throw throws trait true ' +
    'True try type typedef typeof undefined union unless unsafe unsigned until use using val var virtual void volatile when ' +
    'where while with yield ' +
    'alter by create drop exists group having index inner insert into join key left limit on order outer primary right set ' +
    'table update values view'
  ).split(' '),
);

/** How a line comment begins, by language; the others use two slashes. */
const COMMENTS = new Map([
  ...['py', 'python', 'rb', 'ruby', 'sh', 'bash', 'shell', 'zsh', 'yaml', 'yml', 'toml', 'r', 'perl', 'make', 'dockerfile', 'ini'].map((it) => [it, '#']),
  ...['sql', 'lua', 'haskell', 'hs', 'ada', 'elm'].map((it) => [it, '--']),
]);

/** Languages whose text is not code, or has a form of its own. */
const PLAIN = new Set(['text', 'txt', 'plain', 'plaintext', 'md', 'markdown', 'diff', 'patch']);

const DIFF = new Set(['diff', 'patch']);

const rules = new Map();

function rule(comment) {
  if (!rules.has(comment)) {
    const begin = comment.replaceAll('/', '\\/');
    // Every repetition is bounded, so that no text takes long.
    const parts = [
      `(${begin}[^\\n]{0,2000}|\\/\\*[^]{0,2000}?\\*\\/)`,
      '("(?:[^"\\\\\\n]|\\\\.){0,1000}"|\'(?:[^\'\\\\\\n]|\\\\.){0,1000}\'|`(?:[^`\\\\]|\\\\.){0,1000}`)',
      '\\b(\\d[\\w.]{0,40})\\b',
      '([A-Za-z_]\\w{0,80})(\\s{0,3}\\()?',
    ];
    rules.set(comment, new RegExp(parts.join('|'), 'g'));
  }
  return rules.get(comment);
}

/** Code as text and coloured elements. */
export function highlighted(text, language = '') {
  const name = language.toLowerCase();
  if (DIFF.has(name)) return lined(text);
  if (!name || PLAIN.has(name) || text.length > LONGEST) return [text];
  const out = [];
  let last = 0;
  for (const found of text.matchAll(rule(COMMENTS.get(name) ?? '//'))) {
    const kind = kindOf(found, name);
    if (!kind) continue;
    const word = kind === 'call' || kind === 'word' ? found[4] : found[0];
    out.push(text.slice(last, found.index), h(`span.code-${kind}`, {}, word));
    last = found.index + word.length;
  }
  return [...out, text.slice(last)];
}

function kindOf([, comment, string, number, word, opened], language) {
  if (comment) return 'comment';
  if (string) return 'string';
  if (number) return 'number';
  if (KEYWORDS.has(language === 'sql' ? word.toLowerCase() : word)) return 'word';
  return opened ? 'call' : '';
}

/** A patch, line by line. */
function lined(text) {
  return text.split('\n').flatMap((line, at) => {
    const kind = { '+': 'added', '-': 'removed', '@': 'comment' }[line[0]];
    return [at > 0 && '\n', kind ? h(`span.code-${kind}`, {}, line) : line];
  });
}
