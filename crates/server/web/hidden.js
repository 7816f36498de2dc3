// Shows invisible characters, by the same rules as the terminal and the exports
// (crates/quorum/src/text/hidden.rs). Direction marks are removed.

const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const IGNORABLE =
  '\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200d\\u2028\\u2029\\u2060-\\u2065\\u206a-\\u206f\\u3164' +
  '\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';

const PICTOGRAPH = '\\u2190-\\u2bff\\u{1f000}-\\u{1faff}';

const JOINED =
  '\\u0600-\\u07ff\\u0840-\\u109f\\u1780-\\u17b3\\u17b6-\\u17ff\\u1820-\\u18aa\\u1900-\\u1cff\\ua800-\\uabff' +
  '\\ufb50-\\ufdff\\ufe70-\\ufefc\\u{11000}-\\u{11fff}';

const tags = (letters) => [...letters].map((it) => String.fromCodePoint(0xe0000 + it.codePointAt(0))).join('');

/** Invisible characters that scripts and emoji need. */
const NEEDED = [
  `\\u{1f3f4}(?:${['gbeng', 'gbsct', 'gbwls'].map(tags).join('|')})\\u{e007f}`,
  `(?<=[${PICTOGRAPH}\\ufe0f])\\u200d(?=[${PICTOGRAPH}])`,
  `(?<=[${JOINED}])[\\u200c\\u200d]`,
  '(?<=[\\u1820-\\u18aa])[\\u180b-\\u180d\\u180f]',
  `(?<=[^\\s${IGNORABLE}])[\\ufe00-\\ufe0f]`,
  '(?<=[\\u3400-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}])[\\u{e0100}-\\u{e01ef}]',
];

// Most characters are neither; the lookahead skips them quickly.
const HIDDEN = new RegExp(`(?=[\\u{1f3f4}${IGNORABLE}])(?:(${NEEDED.join('|')})|[${IGNORABLE}])`, 'gu');

/** The text with hidden characters as `<U+200B>`. */
export const visible = (text) => text.replace(TURNS, '').replace(HIDDEN, (found, needed) => needed ?? named(found));

const named = (letter) => `<U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}>`;
