// A column for each participant: its position, and what it is saying.

import { fill, h, memo, name, say, seat as colour } from './dom.js';
import { count, duration, money, words } from './figures.js';
import { estimate, isOver } from './fold.js';
import { visible } from './hidden.js';
import { markdown, structured } from './markdown.js';
import { reading } from './reading.js';

/** The number of characters shown of a text while it grows. */
const TAIL = 6000;

/** The length from which a finished turn is collapsed. */
const LONG = 20000;

export function columns() {
  const root = h('section.columns', { 'aria-label': 'Participants' });
  const made = new Map();
  return {
    root,
    update(state, texts) {
      for (const seat of state.seats.values()) {
        if (!made.has(seat.name)) {
          made.set(seat.name, column(seat));
          root.append(made.get(seat.name).root);
        }
        made.get(seat.name).update(state, seat, spokenBy(texts, seat.name));
      }
      for (const [who, it] of made)
        if (!state.seats.has(who)) {
          it.root.remove();
          made.delete(who);
        }
    },
  };
}

function spokenBy(texts, who) {
  let last;
  for (const it of texts.values()) if (it.name === who) last = it;
  return last;
}

function column(seat) {
  const title = h('h2');
  const standing = h('p.standing');
  const part = h('p.part', { hidden: true });
  const body = h('div.said', { tabIndex: 0, role: 'region', 'aria-label': `What ${seat.name} says` });
  const root = h('article.column', { data: colour(seat.index) }, title, standing, part, body);
  const [headed, bodied, parted] = [memo(), memo(), memo()];
  const update = (state, seat, live) => {
    headed(seat.role, () =>
      fill(
        title,
        name(seat.name),
        seat.role !== 'speaker' && h('span.role', {}, ` · ${seat.isPerson ? 'person' : words(seat.role)}`),
      ),
    );
    parted(seat.part, () => {
      part.hidden = !seat.part;
      fill(part, seat.part);
      // Long ones are cut on the screen.
      part.title = visible(seat.part);
    });
    root.dataset.standing = live ? 'speaking' : seat.standing;
    say(standing, describe(state, seat, live));
    bodied(bodyKey(seat, live, `${state.readings.length} ${isOver(state)}`), () => show(body, state, seat, live));
  };
  return { root, update };
}

const bodyKey = (seat, live, read) =>
  live
    ? `live ${live.step} ${live.attempt} ${live.text.length}`
    : `${seat.turn?.step} ${seat.standing} ${seat.why} ${read}`;

function show(body, state, seat, live) {
  const isAtEnd = live && body.scrollHeight - body.scrollTop - body.clientHeight < 40;
  body.classList.toggle('live', Boolean(live));
  body.classList.toggle('past', !live && seat.standing !== 'spoke' && !isOver(state));
  if (live) {
    const tail = live.text.length > TAIL ? '… ' + live.text.slice(-TAIL) : live.text;
    fill(body, markdown(tail));
    if (isAtEnd) body.scrollTop = body.scrollHeight;
  } else {
    fill(body, seat.turn ? turnText(state, seat.turn) : h('p.faint', {}, QUIET[seat.standing] ?? ''));
    body.scrollTop = 0;
  }
}

const QUIET = {
  asked: 'Reading and thinking…',
  waiting: 'Has not been asked yet.',
  listening: 'Listens.',
  absent: 'Is not here.',
  awaited: 'Is awaited.',
};

/** A turn, as Markdown or as the view of its structured reply. Data of a form is never shown as it is. */
export function turnText(state, turn) {
  const form = reading(state, turn);
  if (form) return form;
  if (turn.form && !turn.prose) return [h('p.faint', {}, turn.text.includes('{') ? UNREAD : turn.text)];
  const text = turn.form ? turn.prose : turn.text;
  const data = !turn.form && structured(text);
  if (data) return data;
  const mark = Object.hasOwn(CUT_OFF, turn.finish) ? [h('p.faint', {}, CUT_OFF[turn.finish])] : [];
  if (text.length <= LONG) return [...markdown(text), ...mark];
  const rest = h('button.link', { type: 'button' }, 'Show all of it');
  const nodes = [...markdown(text.slice(0, LONG)), rest];
  rest.addEventListener('click', () => rest.replaceWith(...markdown(text.slice(LONG)), ...mark));
  return nodes;
}

const UNREAD = 'Filled in a form, which could not be read.';

/** The notes below a truncated answer. */
const CUT_OFF = {
  length: '[cut off here: it reached its token limit]',
  truncated: '[cut off here: it went past its token limit]',
};

/** A failure, in a word or two. */
const FAILURES = {
  network: 'no connection',
  rate_limit: 'rate limit',
  api_error: 'provider error',
  timeout: 'timed out',
  context_overflow: 'too long',
  authentication: 'key refused',
  validation: 'request refused',
  invalid_response: 'unreadable',
};

function describe(state, seat, live) {
  if (live) {
    const seconds = Math.max(0.2, (performance.now() - live.since) / 1000);
    const tokens = live.text.length / 4;
    const pace = seconds > 0.8 ? `${count(tokens / seconds)} tok/s · ` : '';
    return `speaking · ${pace}≈ ${count(tokens)} tok${running(state, seat, live, tokens)}`;
  }
  const why = seat.why ? `: ${seat.why}` : '';
  switch (seat.standing) {
    case 'asked':
      return `thinking${seat.form && ` · ${words(seat.form)}`}${seat.heard ? ` ${Math.floor((performance.now() - seat.heard) / 1000)} s` : ''}${again(seat)}${spent(seat)}`;
    case 'retry':
      return `${FAILURES[seat.kind] ?? words(seat.kind)} · attempt ${seat.attempt} failed, again in ${duration(seat.retryMs)}`;
    case 'failed':
      return `out · ${FAILURES[seat.kind] ?? words(seat.kind)}${why}`;
    case 'absent':
      return `not here${why}`;
    case 'awaited':
      return 'it is this person’s turn';
    case 'convening':
      return `convened a discussion of its own${why}`;
    case 'spoke':
    case 'listening':
      return seat.turn ? last(seat) : `listening${why}`;
    default:
      return seat.isPerson ? 'a person' : seat.model || seat.provider;
  }
}

const again = (seat) => (seat.attempt > 1 ? ` · attempt ${seat.attempt}` : '');

const spent = (seat) => {
  if (seat.cost) return ` · ${seat.estimated ? '≈ ' : ''}${money(seat.cost)}${seat.unpriced ? ' + unpriced' : ''}`;
  return seat.unpriced ? ' · unpriced' : '';
};

/** What the seat cost so far, with an estimate of what it is writing. */
function running(state, seat, live, written) {
  const call = state.underWay.get(live.step);
  if (!call) return spent(seat);
  const cost = estimate(call, written);
  return spent({ ...seat, cost: seat.cost + (cost ?? 0), unpriced: seat.unpriced || cost === undefined, estimated: true });
}

function last(seat) {
  const { round, phase, duration_ms: took } = seat.turn;
  const tokens = seat.usage.completion ? ` · ${count(seat.usage.completion)} tok` : '';
  const where = round ? `R${round}` : words(phase);
  const model = seat.turn.answered_by ?? seat.turn.model;
  return `${where}${seat.isPerson ? '' : ` · ${duration(took)}`}${tokens}${spent(seat)}${model ? ` · ${model}` : ''}${seat.turn.reused ? ' · taken over' : ''}`;
}
