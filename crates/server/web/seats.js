// The panel of an order: a row for each seat with its model, and a button for everyone who can be
// added. A provider may take several seats.

import { fill, h, memo } from './dom.js';

/** The end of a person's and of an agent's seat as it is written in an order. */
const PERSON = /:person$/;
const AGENT = /:agent$/;

/** The name of a seat without what it is. */
export const bare = (seat) => seat.replace(AGENT, '').replace(PERSON, '');

/**
 * The editor: `read()` returns the seats as an order has them, `write(seats)` shows some, and
 * `usual(names)` says who takes part if there are none.
 */
export function seatEditor() {
  const rows = h('ol.seats', { 'aria-label': 'Seats' });
  const none = h('p.usual.faint');
  const add = h('div.add', { role: 'group', 'aria-label': 'Add to the panel' });
  const lacking = h('details.lacking', { hidden: true });
  // What depends on the plan is below the buttons, so that it moves none of them when it arrives.
  const root = h('div.panel-editor', {}, rows, add, none, lacking);
  const [drawn, pills] = [memo(), new Map()];
  let [all, providers, agents] = [[], [], []];

  /** Tells the form around it that something has changed. */
  const changed = () => root.dispatchEvent(new Event('input', { bubbles: true }));

  function show() {
    rows.hidden = !all.length;
    none.hidden = all.length > 0;
    fill(rows, all.map((seat, at) => row(seat, at)));
  }

  function row(seat, at) {
    const remove = () => {
      all.splice(at, 1);
      show();
      changed();
      (rows.querySelectorAll('button')[Math.min(at, all.length - 1)] ?? add.querySelector('button'))?.focus();
    };
    const label = `Remove ${bare(seat)}`;
    return h(
      'li.seat',
      { data: { seat: String(at % 6) } },
      named(seat, at),
      h('button.icon', { type: 'button', 'aria-label': label, title: label, on: { click: remove } }, '×'),
    );
  }

  /** The name of a seat, with its models to choose from. */
  function named(seat, at) {
    const agent = AGENT.test(seat) && agents.find((it) => it.id === bare(seat));
    if (agent) return [h('b', {}, h('bdi', {}, agent.displayName ?? agent.id)), h('span.faint', {}, agent.speaksThrough ? `agent, through ${agent.speaksThrough}` : 'agent')];
    if (PERSON.test(seat)) return [h('b', {}, h('bdi', {}, bare(seat))), h('span.faint', {}, 'person')];
    const provider = seat.split('/')[0];
    return [h('b', {}, provider), models(provider, seat.slice(provider.length + 1), at)];
  }

  function models(provider, chosen, at) {
    const known = providers.find((it) => it.name === provider);
    const names = (known?.models ?? []).map((it) => it.name);
    const take = (event) => {
      all[at] = event.target.value ? `${provider}/${event.target.value}` : provider;
    };
    const props = { 'aria-label': `Model of ${provider}`, on: { change: take } };
    if (!names.length) return h('input', { ...props, value: chosen, placeholder: known?.model ?? 'usual model' });
    const offered = chosen && !names.includes(chosen) ? [chosen, ...names] : names;
    const usual = h('option', { value: '', selected: !chosen }, known.model ? `${known.model} (usual)` : 'usual model');
    const rest = offered.filter((it) => it !== known.model || it === chosen);
    return h('select', props, usual, rest.map((it) => h('option', { value: it, selected: it === chosen }, it)));
  }

  function pill(seat, label, aside, title) {
    if (!pills.has(seat)) pills.set(seat, newPill(seat, label, aside, title));
    return pills.get(seat);
  }

  function newPill(seat, label, aside, title) {
    const append = () => {
      all.push(seat);
      show();
      changed();
    };
    return h('button.pill', { type: 'button', value: seat, title, on: { click: append } }, '+ ', h('bdi', {}, label), aside && h('small', {}, aside));
  }

  return {
    root,
    read: () => [...all],
    write(seats) {
      all = [...seats];
      show();
    },
    usual(names) {
      fill(none, names.length > 0 && ['The default panel: ', h('b', {}, names.join(', ')), '. Add somebody to choose your own.']);
    },
    /** Offers whoever can be asked: everyone, if the voices are simulated. */
    offer(knownProviders, knownAgents, isSimulated = false) {
      [providers, agents] = [knownProviders, knownAgents.filter((it) => it.enabled)];
      offer(isSimulated);
      show();
    },
    simulate: offer,
  };

  function offer(isSimulated) {
    const isAnyone = isSimulated || !providers.some((it) => it.available);
    drawn(JSON.stringify([isAnyone, providers, agents]), () => draw(isAnyone));
  }

  /** What those who can't be asked lack is folded away. */
  function draw(isAnyone) {
    const [open, closed] = split(providers, (it) => it.available || isAnyone);
    const [heard, mute] = split(agents, (it) => it.speaksThrough || isAnyone);
    place(add, [
      ...open.map((it) => pill(it.name, it.name, null, it.strengths.join(', '))),
      ...heard.map((it) =>
        pill(`${it.id}:agent`, it.displayName ?? it.id, it.speaksThrough ? ` through ${it.speaksThrough}` : ' agent', [it.role, it.description].filter(Boolean).join(': ')),
      ),
    ]);
    lacking.hidden = !closed.length && !mute.length;
    const line = (name, why) => h('li', {}, h('b', {}, h('bdi', {}, name)), ` ${why}`);
    fill(
      lacking,
      h('summary', {}, `${closed.length + mute.length} more can’t be asked yet`),
      h('ul', {}, closed.map((it) => line(it.name, it.lacks ?? '')), mute.map((it) => line(it.displayName ?? it.id, 'has no provider that can be asked'))),
    );
  }
}

/** Shows these children. Those that are shown already stay, so that none loses its click or focus. */
function place(element, children) {
  for (const it of [...element.children]) if (!children.includes(it)) it.remove();
  children.forEach((it, at) => {
    if (element.children[at] !== it) element.insertBefore(it, element.children[at] ?? null);
  });
}

const split = (all, test) => [all.filter(test), all.filter((it) => !test(it))];
