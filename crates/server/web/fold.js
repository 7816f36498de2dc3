// The state of a discussion: state = fold(facts). The same for live events and for replaying the
// past.

/** The state before the first fact. */
export const start = () => ({
  seq: 0,
  activeMs: 0,
  spec: null,
  fork: null,
  lineage: null,
  lifecycle: 'configuring',
  phase: null,
  round: 0,
  rounds: [],
  seats: new Map(),
  turns: [],
  readings: [],
  /** Structured replies that could not be read. */
  unread: [],
  noted: [],
  notes: [],
  awaiting: [],
  subs: new Map(),
  /** The steps of a run that began, by their names in it. */
  steps: new Map(),
  underWay: new Map(),
  spans: [],
  marks: [],
  ruling: null,
  ended: null,
  usage: { prompt: 0, completion: 0 },
  cost: 0,
  /** The tokens of discussions below this one. */
  below: 0,
  unpriced: false,
  estimated: false,
  leftOut: [],
  calls: 0,
  retries: 0,
  repeated: 0,
  /** Participants that did not see all of the talk, with the most turns lost for one question. */
  cut: new Map(),
  wish: null,
  woundUp: null,
  decision: null,
  conclusion: null,
  problem: null,
});

/** The state after this many facts. */
export const fold = (facts, count = facts.length) => advance(start(), facts, count);

/** Advances a state to this many facts. */
export function advance(state, facts, count) {
  for (let at = state.seq; at < count; at++) apply(state, facts[at]);
  return state;
}

/** Applies the next fact. */
export function apply(state, fact) {
  state.seq = fact.seq;
  state.activeMs = fact.active_ms;
  KINDS[fact.type]?.(state, fact);
  return state;
}

/** The seat of that name; a new participant gets the next one. */
export function seatOf(state, name) {
  let seat = state.seats.get(name);
  if (!seat) {
    seat = {
      name,
      index: state.seats.size,
      role: 'speaker',
      provider: '',
      model: '',
      isPerson: false,
      weight: 1,
      standing: 'waiting',
      why: '',
      attempt: 0,
      form: '',
      retryMs: 0,
      turn: null,
      usage: { prompt: 0, completion: 0 },
      cost: 0,
      unpriced: false,
      estimated: false,
      part: '',
    };
    state.seats.set(name, seat);
  }
  return seat;
}

function stand(state, name, standing, why = '') {
  const seat = seatOf(state, name);
  seat.standing = standing;
  seat.why = why;
  return seat;
}

function charge(state, name, bill) {
  if (!bill) return;
  for (const it of [state, seatOf(state, name)]) {
    it.usage.prompt += bill.usage.prompt;
    it.usage.completion += bill.usage.completion;
    it.cost += bill.cost ?? 0;
    it.unpriced ||= bill.cost === undefined && bill.usage.prompt + bill.usage.completion > 0;
    it.estimated ||= Boolean(bill.estimated);
  }
}

/** The cost of a call under way or given up, in billionths of a dollar; undefined without a price. */
export function estimate({ price, counted = 0 }, written) {
  if (!price) return undefined;
  return Math.ceil((price.input * counted + price.output * written) / 1e6);
}

/** Ends the call under way at this step, and its span on the timeline. */
function release(state, step, isLost = false) {
  const call = state.underWay.get(step);
  state.underWay.delete(step);
  if (call) Object.assign(call.span, { to: state.seq, isLost });
}

function spoke(state, step, turn) {
  const wasCalled = state.underWay.has(step) || state.underWay.has(turn.step);
  release(state, step);
  release(state, turn.step);
  if (!wasCalled) state.spans.push({ name: turn.participant, from: state.seq - 1, to: state.seq });
  charge(state, turn.participant, turn.bill);
}

/** The kind of the note that a run writes at the end of each step. */
const STEP = 'step';

/** Begins a step of a run: the discussion or the tool with this name. */
function begin(state, step, name, about) {
  if (!state.steps.has(name)) state.steps.set(name, { status: 'running', isOver: false, ...about });
  if (state.underWay.has(step)) return;
  const span = { name: name.split('/').at(-1), from: state.seq, to: null };
  state.underWay.set(step, { name, span });
  state.spans.push(span);
}

/** Ends a step of a run. */
function finish(state, { path, status, durationMs, discussionId, error, output, retryCount }) {
  const before = state.steps.get(path);
  const child = discussionId ?? before?.child;
  const end = { status, isOver: true, ms: durationMs, child, error: error?.message, output, retries: retryCount };
  state.steps.set(path, { ...before, ...end });
}

const KINDS = {
  opened(state, { spec, fork, lineage }) {
    Object.assign(state, { spec, fork: fork ?? null, lineage: lineage ?? null });
    for (const it of spec.participants) {
      Object.assign(seatOf(state, it.name), {
        role: it.role,
        provider: it.provider,
        model: it.model ?? '',
        isPerson: Boolean(it.person),
        weight: it.weight ?? 1,
      });
    }
  },
  lifecycle_changed(state, { to }) {
    state.lifecycle = to;
    if (to === 'paused' || to === 'completing' || state.wish === 'resume') state.wish = null;
    if (to === 'paused') state.marks.push({ seq: state.seq, label: 'paused' });
    if (to !== 'error') state.problem = null;
  },
  panel_seated(state, { absent, models }) {
    for (const [name, model] of Object.entries(models ?? {})) seatOf(state, name).model = model;
    for (const it of absent ?? []) stand(state, it.participant, 'absent', it.message);
  },
  round_opened(state, { round }) {
    state.rounds.push({ round, isOver: false, cost: state.cost });
    state.marks.push({ seq: state.seq, label: `R${round}` });
  },
  round_closed(state, { round }) {
    const open = state.rounds.findLast((it) => it.round === round);
    if (open) Object.assign(open, { isOver: true, cost: state.cost - open.cost });
  },
  phase_entered(state, { phase, round }) {
    Object.assign(state, { phase, round });
    for (const seat of state.seats.values()) if (seat.standing === 'spoke') seat.standing = 'listening';
  },
  call_placed(state, fact) {
    const seat = stand(state, fact.participant, 'asked');
    Object.assign(seat, { attempt: fact.attempt, form: fact.form ?? '' });
    // A call that is placed again ends the attempt before, of which nothing more was heard.
    release(state, fact.step, true);
    const span = { name: fact.participant, from: state.seq, to: null };
    state.underWay.set(fact.step, { name: fact.participant, span, price: fact.price, counted: fact.counted });
    if (fact.model) seat.model = fact.model;
    state.spans.push(span);
    state.calls++;
    if (fact.repeats) state.repeated++;
    const { shortened = 0, unheard: leftOut = 0 } = fact;
    if (shortened + leftOut === 0) return;
    const most = state.cut.get(fact.participant) ?? { shortened: 0, leftOut: 0 };
    state.cut.set(fact.participant, {
      shortened: Math.max(most.shortened, shortened),
      leftOut: Math.max(most.leftOut, leftOut),
    });
  },
  call_failed(state, fact) {
    release(state, fact.step, true);
    charge(state, fact.participant, fact.broken?.bill);
    const seat = stand(state, fact.participant, fact.retry_in_ms === undefined ? 'failed' : 'retry', fact.message);
    Object.assign(seat, { attempt: fact.attempt, retryMs: fact.retry_in_ms ?? 0, kind: fact.class });
    if (fact.retry_in_ms !== undefined) state.retries++;
  },
  call_abandoned(state, fact) {
    const call = state.underWay.get(fact.step);
    const usage = { prompt: call?.counted ?? 0, completion: fact.written ?? 0 };
    if (call) charge(state, fact.participant, { usage, cost: estimate(call, usage.completion), estimated: true });
    release(state, fact.step, true);
    stand(state, fact.participant, 'listening', fact.why === 'enough' ? 'the others were enough' : '');
  },
  turn_completed(state, { step, turn }) {
    spoke(state, step, turn);
    state.turns.push(turn);
    state.awaiting = state.awaiting.filter((it) => it.answers !== turn.step);
    const seat = stand(state, turn.participant, 'spoke');
    // A structured reply adds nothing to a speech; the column keeps what was said in the
    // discussion.
    const isOfTalk = turn.phase !== 'deciding' && (!turn.form || seat.turn?.form);
    if (isOfTalk || !seat.turn) seat.turn = turn;
  },
  turn_failed(state, fact) {
    release(state, fact.step, true);
    charge(state, fact.participant, fact.broken?.bill);
    Object.assign(stand(state, fact.participant, 'failed', fact.message), {
      kind: fact.class,
      attempt: fact.attempts,
    });
  },
  summarised(state, { step, turn }) {
    if (turn) charge(state, turn.participant, turn.bill);
    release(state, step);
  },
  group_closed(state, { dropped }) {
    state.leftOut = [...new Set([...state.leftOut, ...dropped])];
  },
  sub_requested(state, { step, turn, topic }) {
    spoke(state, step, turn);
    stand(state, turn.participant, 'convening', topic);
    state.subs.set(step, { participant: turn.participant, topic, end: null });
  },
  child_convened(state, { step, name, child }) {
    state.subs.set(step, { participant: name, topic: name, end: null });
    begin(state, step, name, { child });
  },
  tool_placed(state, { step, name, tool }) {
    begin(state, step, name, { tool });
  },
  tool_used(state, { step, retry_in_ms: retry }) {
    if (retry === undefined) release(state, step);
  },
  sub_concluded(state, fact) {
    const sub = state.subs.get(fact.step);
    release(state, fact.step);
    if (sub) sub.end = { child: fact.child, synthesis: fact.synthesis, problem: fact.problem };
    state.cost += fact.spent?.usd ?? 0;
    state.below += fact.spent?.tokens ?? 0;
  },
  reply_read(state, { step, participant, round, source, reading }) {
    state.readings.push({ step, participant, round, source, reading });
  },
  reply_unread(state, { participant, round, kind }) {
    state.unread.push({ participant, round, kind });
  },
  noted(state, fact) {
    if (fact.kind === STEP) return finish(state, fact.value);
    state.noted.push(fact);
    for (const [who, part] of parts(state, fact.value)) seatOf(state, who).part = part;
  },
  ruling_awaited(state, fact) {
    state.ruling = fact;
  },
  ruled(state) {
    state.ruling = null;
  },
  talk_ended(state, fact) {
    state.ended = fact;
  },
  person_awaited(state, fact) {
    state.awaiting.push(fact);
    stand(state, fact.participant, 'awaited');
  },
  command_taken(state, { command, text }) {
    if (command === 'note') {
      state.notes.push({ seq: state.seq, text, after: state.turns.length });
      state.marks.push({ seq: state.seq, label: '✎' });
    } else if (command !== 'say') {
      state.wish = command === 'resume' && state.lifecycle !== 'paused' ? null : command;
    }
  },
  wound_up(state, { reason }) {
    state.woundUp ??= reason;
    state.awaiting = [];
    state.ruling = null;
    state.wish = null;
  },
  decided(state, { decision }) {
    state.decision = decision;
    state.marks.push({ seq: state.seq, label: '◆' });
  },
  concluded(state, fact) {
    state.conclusion = fact;
    state.awaiting = [];
    for (const step of [...state.underWay.keys()]) release(state, step, true);
  },
  failed(state, { problem }) {
    state.problem = problem;
    for (const step of [...state.underWay.keys()]) release(state, step, true);
  },
  retried(state, fact) {
    state.problem = null;
    // A retry continues the talk, and decides again.
    if (fact.from) [state.woundUp, state.decision, state.conclusion, state.ended] = [null, null, null, null];
    for (const name of fact.reseated ?? []) stand(state, name, 'waiting');
  },
};

/** What a note that lists something for each seat says: the value beside the name. */
function parts(state, value) {
  const isOfSeat = (it) => state.seats.has(it?.participant);
  const list = Object.values(value ?? {}).find((it) => Array.isArray(it) && it.length && it.every(isOfSeat));
  const texts = ({ participant, ...rest }) => Object.values(rest).filter((it) => typeof it === 'string' && it);
  return (list ?? []).map((it) => [it.participant, texts(it).join(' · ')]);
}

export const isOver = (state) => ['completed', 'error', 'aborted'].includes(state.lifecycle);

/** Whether a step is one of the consensus method, after the talk. */
const isDeciding = (step) => /^[^/]*\/deciding(\/|$)/.test(step ?? '');

/** Whether a step is one of a second blind draw: a position, but no change of mind. */
const isRedraw = (step) => /^[^/]*\/redraw(\/|$)/.test(step ?? '');

/** Every position that was stated and not only assumed. */
function stances(state) {
  return state.readings
    .filter((it) => it.source !== 'assumed' && it.reading.stance)
    .map(({ step, participant, round, reading }) => {
      const { position, confidence, chooses = false, joins = true } = reading.stance;
      const weight = (state.seats.get(participant)?.weight ?? 1) * (chooses ? confidence : 1);
      return { participant, round, position, confidence, chooses, joins, weight, step, reading };
    });
}

/** Whether it was asked for in a round of the talk, neither before nor after it. */
const isOfTalk = ({ round, step }) => round > 0 && !isDeciding(step);

/** The positions stated in the talk, without first answers and those on the method's own question. */
const positions = (state) => stances(state).filter(isOfTalk);

/** The participant's reasons in its own words; empty if it gave none. */
export function reasonOf({ value, reason_at: at }) {
  const reason = at && pointer(value, at);
  return typeof reason === 'string' ? reason : '';
}

/** The part of a value that a JSON pointer refers to. */
export function pointer(value, at) {
  const steps = String(at ?? '').split('/').slice(1);
  const step = (it, key) => (it !== null && typeof it === 'object' && Object.hasOwn(it, key) ? it[key] : undefined);
  return steps.map((it) => it.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(step, value);
}

/** Changes of position: who, when, from what to what, and why. */
export function flips(state) {
  const last = new Map();
  const changes = [];
  for (const it of positions(state).filter(({ step }) => !isRedraw(step))) {
    const from = last.get(it.participant);
    last.set(it.participant, it.position);
    if (from !== undefined && from !== it.position) changes.push({ ...it, from, to: it.position, reason: reasonOf(it.reading) });
  }
  return changes;
}

/** The positions of the discussion that could not be read. */
function unreadPositions(state) {
  const asked = state.readings.filter((it) => it.reading.stance && isOfTalk(it));
  const kinds = new Set(asked.map((it) => it.reading.kind));
  const assumed = asked.filter((it) => it.source === 'assumed');
  return [...assumed, ...state.unread.filter((it) => it.round > 0 && kinds.has(it.kind))];
}

/**
 * The agreement after each round in which positions were stated. A position that could not be read
 * is no agreement: it weighs as much as the others and lowers the share.
 */
export function agreements(state) {
  const weightOf = (it) => state.seats.get(it.participant)?.weight ?? 1;
  const weigh = (list) => list.reduce((sum, it) => sum + weightOf(it), 0);
  const unread = unreadPositions(state);
  const rounds = Map.groupBy(positions(state), (it) => it.round);
  return [...rounds].map(([round, held]) => {
    const weights = new Map();
    for (const it of held) weights.set(it.position, (weights.get(it.position) ?? 0) + it.weight);
    const names = new Set(held.map((it) => it.participant));
    const missing = new Map(
      unread.filter((it) => it.round === round && !names.has(it.participant)).map((it) => [it.participant, it]),
    );
    const read = [...weights.values()].reduce((sum, it) => sum + it, 0);
    const seats = weigh(held);
    const all = seats > 0 ? read + (weigh([...missing.values()]) * read) / seats : read;
    // Participants that only share that they disagree do not agree.
    const joining = [...weights].filter(([position]) => held.some((it) => it.joins && it.position === position));
    const most = Math.max(0, ...joining.map(([, weight]) => weight));
    return { round, share: all > 0 ? most / all : 0 };
  });
}

/** The current agreement; null if there are no positions, or none of the last round could be read. */
export function agreement(state) {
  if (state.decision?.agreement !== undefined) return state.decision.agreement;
  const last = agreements(state).at(-1);
  const isStale = unreadPositions(state).some((it) => it.round > last?.round);
  return isStale ? null : (last?.share ?? null);
}

/** The agreement that decides; nothing if participants were asked whether they agree. */
export function needed(state, usual) {
  const stances = state.readings.map((it) => it.reading.stance).filter(Boolean);
  const decides = !stances.length || stances.some((it) => it.chooses);
  return decides ? (state.spec?.settings?.threshold ?? usual) : undefined;
}

/** The votes for the options: every participant's last choice, counted. */
export function choices(state) {
  const last = new Map();
  for (const it of stances(state)) if (it.chooses) last.set(it.participant, it);
  const options = new Map();
  const row = (option) => {
    if (!options.has(option)) options.set(option, { option, votes: 0, weight: 0, who: [] });
    return options.get(option);
  };
  if (last.size) (state.spec?.options ?? []).forEach(row);
  for (const { participant, position, weight } of last.values()) {
    const chosen = row(position);
    chosen.votes++;
    chosen.weight += weight;
    chosen.who.push(participant);
  }
  const made = [...last.values()].map((it) => ({ ...it, who: it.participant, choice: it.position, reason: reasonOf(it.reading) }));
  return { rows: [...options.values()], made };
}

/** All arguments, including unanswered ones. */
export const claims = (state) => state.decision?.claims ?? [];

/** The most rounds: by the option that limits them, if it is set. */
export const mostRounds = ({ settings, rounds }) => settings?.roundLimit ?? rounds;

/**
 * The expected remaining cost: the remaining rounds at the average so far, and half a round's cost
 * for the decision.
 */
export function forecast(state) {
  const done = state.rounds.filter((it) => it.isOver);
  if (isOver(state) || state.decision || done.length === 0 || state.cost === 0) return 0;
  const each = done.reduce((sum, it) => sum + it.cost, 0) / done.length;
  const left = Math.max(0, (state.spec ? mostRounds(state.spec) : 0) - done.length);
  return each * (left + 0.5);
}
