// The steps of a run with their states, from its plan and the facts so far. Draws nothing.

/** Every step as a tree; empty if the record is no run. */
export const overview = (state) => list(state, state.spec?.plan?.steps ?? [], '');

const list = (state, steps, prefix) => steps.map((it) => one(state, it, prefix));

/** The lists inside a step, each with what distinguishes it from the other. */
const lists = ({ action: { steps, then, otherwise } }) =>
  (steps ? [[null, steps]] : [['then', then], ['else', otherwise]]).filter(([, it]) => it?.length);

function one(state, step, prefix) {
  const path = prefix + step.id;
  const isLoop = step.action.kind === 'loop';
  const within = (steps) => (isLoop ? turned(state, steps, path) : list(state, steps, prefix));
  const inside = lists(step).map(([label, steps]) => ({ label, steps: within(steps) }));
  const known = state.steps.get(path);
  const isActive = inside.some((it) => it.steps.some(({ status }) => ['running', 'done', 'failed'].includes(status)));
  return {
    ...known,
    id: step.id,
    path,
    type: step.type,
    status: known?.status ?? (isActive ? 'running' : 'waiting'),
    after: step.after ?? [],
    turns: [],
    inside,
  };
}

/** The steps of a loop: each with its turns, and a state over all of them. */
function turned(state, steps, around) {
  const count = turnsOf(state, around);
  const isOver = Boolean(state.steps.get(around)?.isOver);
  return steps.map((step) => {
    const turns = Array.from({ length: count }, (_, turn) => one(state, step, `${around}/${turn}/`));
    return { ...one(state, step, `${around}/*/`), turns, status: overAll(turns, isOver) };
  });
}

function turnsOf(state, around) {
  let count = 0;
  for (const path of state.steps.keys())
    if (path.startsWith(`${around}/`)) count = Math.max(count, Number(path.slice(around.length + 1).split('/')[0]) + 1);
  return count;
}

function overAll(turns, isOver) {
  const has = (status) => turns.some((it) => it.status === status);
  if (has('failed')) return 'failed';
  if (has('running')) return 'running';
  if (isOver) return has('done') ? 'done' : 'skipped';
  return has('done') ? 'running' : 'waiting';
}

/** All steps one below the other, with how deep they are nested; turns in place of their step. */
export function flattened(steps, depth = 0) {
  return steps.flatMap((it) =>
    it.turns.length
      ? flattened(it.turns, depth)
      : [{ ...it, depth }, ...it.inside.flatMap((list) => flattened(list.steps, depth + 1))],
  );
}

/** How many steps of the plan are over, of how many. */
export function progress(state) {
  const all = overview(state).flatMap((it) => withInside(it));
  return { over: all.filter((it) => ['done', 'failed', 'skipped'].includes(it.status)).length, all: all.length };
}

const withInside = (step) => [step, ...step.inside.flatMap((it) => it.steps.flatMap(withInside))];

/** The text of an output for people. */
export function textOf(output) {
  if (output === null || output === undefined) return '';
  if (typeof output === 'string') return output;
  const text = output.content ?? output.synthesis;
  return typeof text === 'string' ? text : `\`\`\`json\n${JSON.stringify(output, null, 2)}\n\`\`\``;
}
