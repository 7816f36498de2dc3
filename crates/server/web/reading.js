// Structured replies as text: the line that describes them, and the view that their form declares.

import { h } from './dom.js';
import { capital } from './figures.js';
import { reasonOf } from './fold.js';
import { markdown } from './markdown.js';
import { draw } from './views.js';
import { formView } from './vocabulary.js';

/** The parsed reply of this turn; null if it was not structured, or is not parsed yet. */
export function readingOf(state, turn) {
  const of = (it) => it.participant === turn.participant && it.step?.startsWith(`${turn.step}/`);
  return state.readings.findLast(of)?.reading ?? null;
}

/** The same as text; null if there is none. */
export function reading(state, turn) {
  const found = readingOf(state, turn);
  if (!found) return null;
  const { kind, value, told } = found;
  const view = formView(state, kind);
  const line = told && h('p.choice-made', {}, h('b', {}, capital(told)));
  // The line replaces a table of a single row, except for the reasons.
  const isTold = told && view?.kind === 'table';
  const reason = (isTold || !shows(view, found.reason_at)) && markdown(reasonOf(found));
  const made = [line, reason, isTold ? [] : draw(view, value, state.seats)].flat().filter(Boolean);
  return made.length ? made : null;
}

/** Whether this view shows the part at this pointer. */
const shows = (view, at) => [view?.columns, view?.sections].some((it) => it?.some?.((part) => part.at === at));
