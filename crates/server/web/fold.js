// What a discussion amounts to: state = fold(facts). The same for what happens now and for what is dragged out of the past.

/** Before anything happened. */
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
  checks: [],
  notes: [],
  awaiting: [],
  subs: new Map(),
  underWay: new Map(),
  spans: [],
  marks: [],
  detections: [],
  judges: [],
  vacancy: null,
  ended: null,
  usage: { prompt: 0, completion: 0 },
  cost: 0,
  unpriced: false,
  calls: 0,
  retries: 0,
  repeated: 0,
  wish: null,
  woundUp: null,
  decision: null,
  conclusion: null,
  problem: null,
});

/** The state after so many of these facts. */
export const fold = (facts, count = facts.length) => advance(start(), facts, count);

/** Goes on from where a state is to so many of these facts. */
export function advance(state, facts, count) {
  for (let at = state.seq; at < count; at++) apply(state, facts[at]);
  return state;
}

/** Takes in the next fact. */
export function apply(state, fact) {
  state.seq = fact.seq;
  state.activeMs = fact.active_ms;
  KINDS[fact.type]?.(state, fact);
  return state;
}

/** The seat of that name; somebody new is given the next one. */
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
      retryMs: 0,
      turn: null,
      usage: { prompt: 0, completion: 0 },
      cost: 0,
      unpriced: false,
      position: '',
      persona: '',
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
  }
}

/** Ends the call under way at this step, and its stretch on the timeline. */
function release(state, step) {
  const call = state.underWay.get(step);
  state.underWay.delete(step);
  if (call) call.span.to = state.seq;
}

function spoke(state, step, turn) {
  const wasCalled = state.underWay.has(step) || state.underWay.has(turn.step);
  release(state, step);
  release(state, turn.step);
  if (!wasCalled) state.spans.push({ name: turn.participant, from: state.seq - 1, to: state.seq });
  charge(state, turn.participant, turn.bill);
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
    for (const part of spec.debate?.positions ?? []) place(state, part);
  },
  lifecycle_changed(state, { to }) {
    state.lifecycle = to;
    if (to === 'paused' || to === 'completing' || state.wish === 'resume') state.wish = null;
    if (to === 'paused') state.marks.push({ seq: state.seq, label: 'paused' });
    if (to !== 'error') state.problem = null;
  },
  panel_seated(state, { absent }) {
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
    seat.attempt = fact.attempt;
    const span = { name: fact.participant, from: state.seq, to: null };
    state.underWay.set(fact.step, { name: fact.participant, span });
    state.spans.push(span);
    state.calls++;
    if (fact.repeats) state.repeated++;
  },
  call_failed(state, fact) {
    release(state, fact.step);
    charge(state, fact.participant, fact.broken?.bill);
    const seat = stand(state, fact.participant, fact.retry_in_ms === undefined ? 'failed' : 'retry', fact.message);
    Object.assign(seat, { attempt: fact.attempt, retryMs: fact.retry_in_ms ?? 0, kind: fact.class });
    if (fact.retry_in_ms !== undefined) state.retries++;
  },
  call_abandoned(state, fact) {
    release(state, fact.step);
    stand(state, fact.participant, 'listening', fact.why === 'enough' ? 'the others were enough' : '');
  },
  turn_completed(state, { step, turn }) {
    spoke(state, step, turn);
    state.turns.push(turn);
    state.awaiting = state.awaiting.filter((it) => it.answers !== turn.step);
    const seat = stand(state, turn.participant, 'spoke');
    // A check or a vote on the result says nothing new; the column keeps what was said in the talk.
    const isTalk = turn.phase !== 'deciding' && !turn.phase.startsWith('consensus-check');
    if (isTalk || !seat.turn) seat.turn = turn;
  },
  turn_failed(state, fact) {
    release(state, fact.step);
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
  sub_requested(state, { step, turn, topic }) {
    spoke(state, step, turn);
    stand(state, turn.participant, 'convening', topic);
    state.subs.set(step, { participant: turn.participant, topic, end: null });
  },
  sub_concluded(state, fact) {
    const sub = state.subs.get(fact.step);
    if (sub) sub.end = { child: fact.child, synthesis: fact.synthesis, problem: fact.problem };
    state.cost += fact.spent?.usd ?? 0;
  },
  reply_read(state, { step, participant, round, source, reading }) {
    state.readings.push({ step, participant, round, source, reading });
  },
  consensus_checked(state, check) {
    state.checks.push(check);
  },
  parts_cast(state, { parts }) {
    for (const part of parts) place(state, part);
  },
  detected(state, fact) {
    state.detections.push(fact);
  },
  judge_awaited(state, fact) {
    state.vacancy = fact;
  },
  judge_changed(state, fact) {
    state.vacancy = null;
    state.judges.push(fact);
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
    state.vacancy = null;
    state.wish = null;
  },
  decided(state, { decision }) {
    state.decision = decision;
    state.marks.push({ seq: state.seq, label: '◆' });
  },
  concluded(state, fact) {
    state.conclusion = fact;
    state.awaiting = [];
    for (const step of [...state.underWay.keys()]) release(state, step);
  },
  failed(state, { problem }) {
    state.problem = problem;
  },
  retried(state) {
    state.problem = null;
  },
};

function place(state, part) {
  Object.assign(seatOf(state, part.participant), { position: part.position ?? '', persona: part.persona ?? '' });
}

export const isOver = (state) => ['completed', 'error', 'aborted'].includes(state.lifecycle);

/** The positions taken in the talk: not what was only assumed, and not the method's own vote. */
function positions(state) {
  const held = [];
  for (const { step, participant, round, source, reading } of state.readings) {
    if (source === 'assumed' || step?.split('/')[1] === 'deciding') continue;
    const weight = state.seats.get(participant)?.weight ?? 1;
    if (reading.kind === 'ballot') {
      const { choice, confidence, reasoning } = reading;
      held.push({ participant, round, position: choice, reason: reasoning, weight: weight * confidence, confidence });
    } else if (reading.kind === 'consensus_vote') {
      const position = reading.agrees ? 'consensus' : 'no consensus';
      held.push({
        participant,
        round,
        position,
        reason: reading.reasoning,
        weight,
        isCheck: true,
        confidence: reading.confidence / 100,
      });
    }
  }
  return held;
}

/** Who changed position, when, from what to what, and why. */
export function flips(state) {
  const last = new Map();
  const changes = [];
  for (const it of positions(state)) {
    const from = last.get(it.participant);
    last.set(it.participant, it.position);
    if (from !== undefined && from !== it.position) changes.push({ ...it, from, to: it.position });
  }
  return changes;
}

/** How far they agreed after each round in which positions were taken. */
export function agreements(state) {
  const rounds = Map.groupBy(positions(state), (it) => it.round);
  return [...rounds].map(([round, held]) => {
    const weights = new Map();
    for (const it of held) weights.set(it.position, (weights.get(it.position) ?? 0) + it.weight);
    const all = [...weights.values()].reduce((sum, it) => sum + it, 0);
    const isCheck = held.every((it) => it.isCheck);
    const most = isCheck ? (weights.get('consensus') ?? 0) : Math.max(0, ...weights.values());
    return { round, share: all > 0 ? most / all : 0 };
  });
}

/** How far they agree now; null where there are no positions. */
export function agreement(state) {
  return state.decision?.agreement ?? agreements(state).at(-1)?.share ?? null;
}

/** What was voted: everybody's last vote, counted. */
export function votes(state) {
  const last = new Map();
  const cast = state.decision?.tally?.ballots ?? positions(state).filter((it) => !it.isCheck);
  for (const it of cast) {
    const weight = it.weight ?? it.confidence * (state.seats.get(it.participant)?.weight ?? 1);
    last.set(it.participant, {
      who: it.participant,
      choice: it.choice ?? it.position,
      weight,
      confidence: it.confidence,
      reason: it.reasoning ?? it.reason,
    });
  }
  const options = new Map(
    (state.spec?.options ?? []).map((it) => [it, { option: it, votes: 0, weight: 0, who: [] }]),
  );
  for (const it of last.values()) {
    const row = options.get(it.choice) ?? { option: it.choice, votes: 0, weight: 0, who: [] };
    row.votes++;
    row.weight += it.weight;
    row.who.push(it.who);
    options.set(it.choice, row);
  }
  const rows = [...options.values()].sort((a, b) => b.weight - a.weight);
  return { rows: last.size ? rows : [], ballots: [...last.values()] };
}

/** The judge's scores: for each debater one by round, 0 to 10. */
export function scores(state) {
  const lines = new Map();
  for (const { round, reading } of state.readings) {
    if (reading.kind !== 'assessment') continue;
    for (const it of reading.assessments) {
      if (!lines.has(it.participant)) lines.set(it.participant, new Map());
      lines.get(it.participant).set(round, it.score);
    }
  }
  return lines;
}

const lastOf = (state, kind) => state.readings.findLast((it) => it.reading.kind === kind)?.reading;

export const verdict = (state) => lastOf(state, 'verdict');

/** The arguments on the table, those nobody answered among them. */
export const claims = (state) => state.decision?.claims ?? lastOf(state, 'synthesis')?.claims ?? [];

/** What it will probably still cost: the rounds to come as the rounds so far, and as much again for deciding as one of them. */
export function forecast(state) {
  const done = state.rounds.filter((it) => it.isOver);
  if (isOver(state) || state.decision || done.length === 0 || state.cost === 0) return 0;
  const each = done.reduce((sum, it) => sum + it.cost, 0) / done.length;
  const left = Math.max(0, (state.spec?.rounds ?? 0) - done.length);
  return each * (left + 0.5);
}
