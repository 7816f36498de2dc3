// A picture of the steps of a run: a box for each with its state, lines for what waits for what,
// steps inside others in frames. Below it, every step with its output.

import { fill, h, memo, svg } from './dom.js';
import { duration, plural } from './figures.js';
import { isOver } from './fold.js';
import { visible } from './hidden.js';
import { markdown } from './markdown.js';
import { flattened, overview, textOf } from './run.js';

const [WIDTH, HEIGHT] = [184, 48];
const [BESIDE, BELOW] = [16, 32];
const [MARGIN, TITLE, LABEL] = [12, 36, 20];

/** The widest picture; what is beside each other continues below if there is less room. */
const WIDEST = 1000;

/** The longest name that fits a box, in characters. */
const LONGEST = 20;

export function steps() {
  const picture = h('div.wide');
  const list = h('div.outputs');
  const root = h('section.panel.run', { 'aria-label': 'Steps', hidden: true }, h('h2', {}, 'Steps'), picture, list);
  const [drawn, listed] = [memo(), memo()];
  const rows = new Map();
  let last = null;
  new ResizeObserver(() => last && update(last)).observe(picture);

  function update(state) {
    root.hidden = !state.spec?.plan;
    if (root.hidden) return;
    last = state;
    const all = overview(state).map((it) => ended(it, isOver(state)));
    const room = Math.min(WIDEST, Math.max(WIDTH + 2 * MARGIN, (picture.clientWidth || WIDEST) - 4));
    const key = JSON.stringify(all, (name, value) => (name === 'output' ? undefined : value));
    drawn(`${room} ${key}`, () => fill(picture, draw(all, room)));
    listed(key, () => write(list, rows, flattened(all)));
  }
  return { root, update };
}

/** In a run that is over, what still waits was never reached. */
function ended(step, isRunOver) {
  const inside = step.inside.map((it) => ({ ...it, steps: it.steps.map((below) => ended(below, isRunOver)) }));
  const isLost = isRunOver && ['waiting', 'running'].includes(step.status);
  return { ...step, inside, turns: step.turns.map((it) => ended(it, isRunOver)), status: isLost ? 'not reached' : step.status };
}

/** The state and what else is worth a word. */
const told = ({ status, ms, turns }) => {
  if (turns.length) return `${turns.filter((it) => it.status === 'done').length} of ${plural(turns.length, 'turn')}`;
  return status === 'done' && ms !== undefined ? `done · ${duration(ms)}` : status;
};

/** Every step as a row that opens to its output. Rows that stay the same are kept, open or not. */
function write(list, rows, all) {
  const known = new Set(all.map((it) => it.path));
  for (const path of [...rows.keys()]) if (!known.has(path)) rows.delete(path);
  const made = all.map((it) => {
    const key = JSON.stringify([it.status, it.ms, it.error, it.child, it.turns.length]);
    if (rows.get(it.path)?.key !== key) rows.set(it.path, { key, row: row(it, rows.get(it.path)?.row.open) });
    return rows.get(it.path).row;
  });
  fill(list, made);
}

function row(it, isOpen = false) {
  const text = textOf(it.output);
  const head = [
    h('span.light', { data: { status: it.status } }),
    h('b', {}, it.path),
    h('span.faint', {}, ` ${it.type} · ${told(it)}${it.retries ? ` · ${plural(it.retries, 'retry', 'retries')}` : ''}`),
  ];
  const body = [
    it.error && h('p.caution', {}, it.error),
    it.child && h('p', {}, h('a', { href: `/d/${it.child}` }, it.type === 'discuss' ? 'Open the discussion' : 'Open what was asked')),
    it.status === 'done' && text && h('div.said', {}, markdown(text)),
  ].filter(Boolean);
  const place = { data: { depth: String(Math.min(it.depth, 5)) } };
  if (!body.length) return h('p.step', place, head);
  return h('details.step', { ...place, open: isOpen }, h('summary', {}, head), h('div', {}, body));
}

/** The picture in this width. */
function draw(all, room) {
  const block = arranged(all, room);
  const [width, height] = [block.width + 2, block.height + 2];
  const shapes = [];
  paint(block, 1, 1, shapes);
  return svg(
    'svg',
    { class: 'graph', viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': 'The steps and what waits for what' },
    shapes,
  );
}

/** Steps in rows: each below everything it waits for. */
function arranged(list, room) {
  const levels = levelsOf(list);
  const byLevel = Map.groupBy(list, (it) => levels.get(it.id));
  const rows = [...byLevel.keys()].sort((a, b) => a - b).flatMap((level) => wrapped(byLevel.get(level).map((it) => sized(it, room)), room));
  const widthOf = (row) => row.reduce((sum, it) => sum + it.width + BESIDE, -BESIDE);
  const width = Math.max(WIDTH, ...rows.map(widthOf));
  const placed = [];
  let y = 0;
  for (const row of rows) {
    let x = (width - widthOf(row)) / 2;
    for (const it of row) {
      placed.push({ ...it, x, y });
      x += it.width + BESIDE;
    }
    y += Math.max(...row.map((it) => it.height)) + BELOW;
  }
  return { placed, width, height: Math.max(0, y - BELOW) };
}

function levelsOf(list) {
  const levels = new Map();
  // A step may come before one it waits for, so this goes on until nothing can change any more.
  for (let turn = 0; turn <= list.length; turn++)
    for (const { id, after } of list)
      levels.set(id, Math.min(list.length, Math.max(0, ...after.map((it) => (levels.get(it) ?? -1) + 1))));
  return levels;
}

function sized(step, room) {
  const inside = step.inside.map(({ label, steps }) => ({ label, block: arranged(steps, room - 2 * MARGIN) }));
  if (!inside.length) return { step, width: WIDTH, height: HEIGHT, inside };
  // Two branches are beside each other if there is room.
  const [sum, most] = [inside.reduce((all, it) => all + it.block.width + BESIDE, -BESIDE), Math.max(...inside.map((it) => it.block.width))];
  const isBeside = sum + 2 * MARGIN <= room;
  const heights = inside.map((it) => it.block.height + (it.label ? LABEL : 0) + MARGIN);
  const height = TITLE + (isBeside ? Math.max(...heights) : heights.reduce((all, it) => all + it, 0));
  return { step, width: Math.max(WIDTH, isBeside ? sum : most) + 2 * MARGIN, height, inside, isBeside };
}

function wrapped(row, room) {
  const rows = [];
  let width = Infinity;
  for (const it of row) {
    if (width + BESIDE + it.width > room) {
      rows.push([]);
      width = -BESIDE;
    }
    rows.at(-1).push(it);
    width += BESIDE + it.width;
  }
  return rows;
}

function paint(block, x, y, shapes) {
  const places = new Map(block.placed.map((it) => [it.step.id, it]));
  for (const to of block.placed)
    for (const from of to.step.after.map((it) => places.get(it)).filter(Boolean))
      shapes.push(edge([x + from.x + from.width / 2, y + from.y + from.height], [x + to.x + to.width / 2, y + to.y], from.step.status));
  for (const it of block.placed) shapes.push(...boxed(it, x + it.x, y + it.y));
}

function edge([x, y], [toX, toY], status) {
  const [end, bend] = [toY - 6, (toY - y) / 2];
  return svg(
    'g',
    { class: 'edge', 'data-status': status },
    svg('path', { d: `M${x} ${y}C${x} ${y + bend} ${toX} ${end - bend} ${toX} ${end}` }),
    svg('path', { class: 'tip', d: `M${toX - 4} ${end}h8l-4 6z` }),
  );
}

const short = (text) => ([...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join('')}…` : text);

function boxed({ step, width, height, inside, isBeside }, x, y) {
  const isFrame = inside.length > 0;
  const label = `${step.id} ${step.type} · ${isFrame ? step.status : told(step)}${step.error ? `: ${step.error}` : ''}`;
  const text = (kind, left, top, words) => svg('text', { class: kind, x: left, y: top }, visible(words));
  const shape = [
    // A link is named by the texts inside it.
    step.child ? null : svg('title', {}, visible(label)),
    svg('rect', { x, y, width, height, rx: 9 }),
    svg('circle', { cx: x + 15, cy: y + 18, r: 5 }),
    text('name', x + 27, y + 22, short(step.id)),
    isFrame ? text('kind end', x + width - 12, y + 22, `${step.type} · ${step.status}`) : text('kind', x + 27, y + 39, `${step.type} · ${told(step)}`),
  ];
  const about = { class: isFrame ? 'group' : 'box', 'data-status': step.status, 'data-step': step.id };
  const box = step.child ? svg('a', { ...about, href: `/d/${step.child}` }, shape) : svg('g', about, shape);
  const shapes = [box];
  const sum = inside.reduce((all, it) => all + it.block.width + BESIDE, -BESIDE);
  let [left, top] = [x + (width - sum) / 2, y + TITLE];
  for (const { label: of, block } of inside) {
    const at = isBeside ? left : x + (width - block.width) / 2;
    const below = top + (of ? LABEL : 0);
    if (of) shapes.push(text('kind', at + 2, top + 11, of));
    paint(block, at, below, shapes);
    if (isBeside) left += block.width + BESIDE;
    else top = below + block.height + MARGIN;
  }
  return shapes;
}
