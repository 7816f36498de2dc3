// Form fields for the options that patterns, methods and window strategies declare: one for each,
// by its kind.

import { fill, h } from './dom.js';
import { capital } from './figures.js';

/** The length from which a text gets several lines. */
const LONG = 200;

/**
 * The field of an option: `read()` returns its value, or nothing for the default; `write(value)`
 * shows one; `seat(names)` sets the participants.
 */
export function optionField(option, detectors) {
  const make = Object.hasOwn(KINDS, option.kind) ? KINDS[option.kind] : KINDS.text;
  return { name: option.name, seat: () => {}, ...make(option, detectors) };
}

/** `roundLimit` → Round limit */
const titled = (name) => capital(name.replaceAll(/[A-Z]/g, (it) => ` ${it.toLowerCase()}`));

export const field = (label, control, hint) =>
  h('label.field', { title: hint }, h('span', {}, label), control, hint && h('small.hint', {}, hint));

/** Several controls under one label. */
const group = ({ name, summary }, ...controls) =>
  h('fieldset.option', {}, h('legend', {}, titled(name)), h('small.hint', {}, summary), controls);

export const options = (select, all) =>
  fill(
    select,
    all.map(([value, label, title]) => h('option', { value, title }, label)),
  );

export const lines = (text) =>
  (text ?? '')
    .split('\n')
    .map((it) => it.trim())
    .filter(Boolean);

const given = (value) => (value === '' ? undefined : value);

const nameOf = (option) => `option-${option.name}`;

const KINDS = {
  flag(option) {
    const { default: usual = false } = option.schema;
    const box = h('input', { type: 'checkbox', name: nameOf(option), checked: usual });
    const root = h('label.choice.option', {}, box, h('span', {}, titled(option.name), h('small.hint', {}, option.summary)));
    return {
      root,
      read: () => (box.checked === usual ? undefined : box.checked),
      write: (value) => (box.checked = value),
    };
  },
  whole: (option) => numeric(option, 1),
  number: (option) => numeric(option, 'any'),
  text(option) {
    const { maxLength } = option.schema;
    const props = { name: nameOf(option), maxlength: maxLength, placeholder: option.example };
    const input = maxLength > LONG ? h('textarea', { ...props, rows: 2 }) : h('input', props);
    return simple(option, input, (text) => given(text.trim()));
  },
  embedder: (option) => KINDS.text({ ...option, example: 'provider/model' }),
  choice(option) {
    const usual = option.schema.default ? `usual (${option.schema.default})` : 'none';
    const select = h('select', { name: nameOf(option) });
    const choice = (it) => [it.name, it.summary ? `${it.name}: ${it.summary}` : it.name, it.summary];
    options(select, [['', usual], ...(option.choices ?? []).map(choice)]);
    return simple(option, select, given);
  },
  seat(option) {
    const select = h('select', { name: nameOf(option) });
    return { ...simple(option, select, given), seat: (names) => offer(select, names) };
  },
  seats(option) {
    const body = h('div.fields');
    let inputs = [];
    const checked = () => inputs.filter((it) => it.checked).map((it) => it.value);
    const show = (names, chosen) => {
      inputs = names.map((it) => h('input', { type: 'checkbox', name: nameOf(option), value: it, checked: chosen.includes(it) }));
      fill(
        body,
        inputs.map((it) => h('label.choice', {}, it, h('bdi', {}, it.value))),
      );
    };
    return {
      root: group(option, body),
      read: () => some(checked()),
      write: (value) => show([...new Set([...inputs.map((it) => it.value), ...value])], value),
      seat: (names) => show(names, checked()),
    };
  },
  texts(option) {
    const { maxItems } = option.schema;
    const input = h('textarea', { name: nameOf(option), rows: 2, placeholder: `one a line, at most ${maxItems}` });
    return { ...simple(option, input, (text) => some(lines(text))), write: (value) => (input.value = value.join('\n')) };
  },
  detectors(option, detectors) {
    const box = ({ name, summary }) =>
      h('label.choice', { title: summary }, h('input', { type: 'checkbox', name: nameOf(option), value: name }), name);
    const boxes = detectors.map(box);
    const inputs = boxes.map((it) => it.firstChild);
    return {
      root: group(option, boxes),
      read: () => some(inputs.filter((it) => it.checked).map((it) => it.value)),
      write: (value) => inputs.forEach((it) => (it.checked = value.includes(it.value))),
    };
  },
  rows,
  textsBySeat,
};

const some = (list) => (list.length ? list : undefined);

/** A labelled control whose value is read by `read`. */
const simple = (option, control, read) => ({
  root: field(titled(option.name), control, option.summary),
  read: () => read(control.value),
  write: (value) => (control.value = value),
});

function numeric(option, step) {
  const { minimum, maximum, default: usual } = option.schema;
  const props = { type: 'number', name: nameOf(option), min: minimum, max: maximum, step };
  return simple(option, h('input', { ...props, placeholder: usual ?? 'usual' }), (text) => (text === '' ? undefined : Number(text)));
}

/** Offers all participants; keeps the current choice. */
function offer(select, names, none = 'usual') {
  const before = select.value;
  options(select, [['', none], ...names.map((it) => [it, it])]);
  select.value = names.includes(before) ? before : '';
}

/** A list of rows with named cells. */
function rows(option) {
  const most = option.schema.maxItems ?? Infinity;
  const body = h('div.rows');
  const add = h('button', { type: 'button', on: { click: () => append({}) } }, 'Add a row');
  let [all, seated] = [[], []];
  const show = () => (add.disabled = all.length >= most);

  function append(value) {
    const cells = option.cells.map((cell) => cellOf(cell, value[cell.name], seated));
    const row = { cells, root: h('div.row', {}, cells.map((it) => it.root)) };
    const remove = () => {
      all = all.filter((it) => it !== row);
      row.root.remove();
      // Removing a row changes the order.
      body.dispatchEvent(new Event('input', { bubbles: true }));
      show();
    };
    row.root.append(h('button.link', { type: 'button', on: { click: remove } }, 'Remove'));
    all.push(row);
    body.append(row.root);
    show();
  }
  const read = ({ cells }) =>
    Object.fromEntries(cells.map((it) => [it.name, it.read()]).filter(([, value]) => value !== undefined));
  return {
    root: group(option, body, add),
    read: () => some(all.map(read).filter((it) => Object.keys(it).length)),
    write: (value) => {
      for (const it of all.splice(0)) it.root.remove();
      value.forEach(append);
    },
    seat: (names) => {
      seated = names;
      for (const it of all.flatMap((row) => row.cells)) it.seat?.(names);
    },
  };
}

/** A cell of a row. */
function cellOf({ name, kind, required }, value, seated) {
  const cell = (control, read, rest) => ({ name, root: field(titled(name), control), read: () => read(control.value), ...rest });
  if (kind === 'texts')
    return cell(h('textarea', { rows: 2, placeholder: 'one a line', value: (value ?? []).join('\n') }), (text) => some(lines(text)));
  if (kind === 'text') return cell(h('input', { required, value: value ?? '' }), (text) => given(text.trim()));
  const select = h('select', { required });
  const none = required ? 'choose' : 'usual';
  offer(select, value && !seated.includes(value) ? [...seated, value] : seated, none);
  select.value = value ?? '';
  return cell(select, given, { seat: (names) => offer(select, names, none) });
}

/** Texts for each participant, one per line. */
function textsBySeat(option) {
  const body = h('div.fields');
  const kept = new Map();
  const text = (who) => {
    if (!kept.has(who)) kept.set(who, h('textarea', { rows: 2, placeholder: 'one a line' }));
    return kept.get(who);
  };
  let seated = [];
  return {
    root: group(option, body),
    read: () => {
      const all = seated.map((who) => [who, lines(text(who).value)]).filter(([, it]) => it.length);
      return all.length ? Object.fromEntries(all) : undefined;
    },
    write: (value) => Object.entries(value).forEach(([who, it]) => (text(who).value = it.join('\n'))),
    seat: (names) => {
      seated = names;
      fill(
        body,
        names.map((who) => field(h('bdi', {}, who), text(who))),
      );
    },
  };
}
