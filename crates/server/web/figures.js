// Formats numbers for people.

const NANO = 1e9;

/** Money, from billionths of a dollar. */
export function money(nano) {
  const dollars = nano / NANO;
  if (dollars === 0) return '$0';
  if (dollars < 0.01) return '$' + dollars.toPrecision(2).replace(/0+$/, '').replace(/\.$/, '');
  return '$' + dollars.toFixed(dollars < 1 ? 4 : 2).replace(/(\.\d\d)0+$/, '$1');
}

export const dollars = (amount) => money(amount * NANO);

/**
 * A number with this many decimals. Ties go to the even digit, as on the server: so a score is the
 * same in what the server words and in what the page draws.
 */
export function decimals(number, digits) {
  const scaled = number * 10 ** digits;
  const isTie = Number.isInteger(number * 2 ** (digits + 1)) && !Number.isInteger(scaled);
  const even = Math.floor(scaled) + Math.abs(Math.floor(scaled) % 2);
  return (isTie ? even / 10 ** digits : number).toFixed(digits);
}

/** 950, 18.4k, 1.2M */
export function count(number) {
  if (number < 1000) return String(Math.round(number));
  if (number < 1e6) return `${trim(number / 1e3)}k`;
  return `${trim(number / 1e6)}M`;
}

const trim = (number) => (number < 100 ? number.toFixed(1).replace(/\.0$/, '') : String(Math.round(number)));

/** 0:47, 12:05, 1:02:09 */
export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (number) => String(number).padStart(2, '0');
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** 850 ms, 4.2 s, 3 min */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${trim(ms / 1000)} s`;
  return `${Math.round(ms / 60000)} min`;
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const HOUR = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** A short time: the time of day for today, the date otherwise. */
export function moment(when) {
  const date = new Date(when);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? HOUR : DAY).format(date);
}

export const plural = (number, word, many = `${word}s`) => `${number} ${number === 1 ? word : many}`;

/** too-few-left → too few left */
export const words = (text) => String(text ?? '').replaceAll(/[-_]/g, ' ');

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
