// A person's turn: an inline form whose draft is kept while the page around it is redrawn.

import { keep, post, recalled } from './api.js';
import { announce, fill, h, memo, name, notice, sends } from './dom.js';
import { capital, words } from './figures.js';
import { markdown } from './markdown.js';
import { rulingOf } from './vocabulary.js';

export function person(id) {
  const root = h('div.people');
  const made = memo();
  // A draft for a turn that was taken in another tab is kept for the next turn.
  const drafts = new Map();
  const update = (state, isNow) => {
    const awaited = isNow ? state.awaiting : [];
    const ruling = isNow ? state.ruling : null;
    root.hidden = !awaited.length && !ruling;
    made([...awaited, ruling].map((it) => it?.answers).join(), () => {
      for (const it of root.querySelectorAll('textarea')) drafts.set(it.dataset.who, it.value);
      fill(
        root,
        ruling && decision(id, state, ruling),
        awaited.map((it) => form(id, state, it, drafts.get(it.participant))),
      );
      if (awaited.length) announce(`It is ${awaited[0].participant}'s turn to speak.`);
    });
  };
  return { root, update, focus: () => root.querySelector('textarea, input')?.focus() };
}

function form(id, state, awaited, draft) {
  const place = `${id}/${awaited.participant}`;
  // If the question is about the order's options, one of them is chosen.
  const { options: offered = [] } = state.spec;
  const isChoice = Boolean(awaited.shape) && offered.length > 0 && offered.every((it) => awaited.prompt.includes(it));
  const text = h('textarea', {
    name: 'text',
    value: draft ?? recalled(place) ?? '',
    data: { who: awaited.participant },
    rows: isChoice ? 2 : 4,
    required: !isChoice,
    maxlength: 100000,
    'aria-label': isChoice ? 'Your reasons' : 'What you say',
    placeholder: isChoice ? 'Why? (if you like)' : 'Markdown is fine. Ctrl+Enter sends.',
  });
  const send = h('button.primary', {}, isChoice ? 'Vote' : 'Say it');
  const options = isChoice ? choice(offered) : null;
  const user = state.spec.participants.find((it) => it.name === awaited.participant)?.person?.user;
  const submit = async (event) => {
    event.preventDefault();
    send.disabled = true;
    const written = text.value;
    text.value = '';
    keep(place, '');
    try {
      const said = isChoice ? options.read(written) : written;
      await post(`/api/discussions/${id}/say`, {
        text: said,
        participant: awaited.participant,
        ...(user && { userId: user }),
      });
    } catch (error) {
      send.disabled = false;
      text.value = written;
      keep(place, written);
      notice(error.message, 'error');
    }
  };
  const element = h(
    'form.person',
    { on: { submit } },
    h(
      'h2',
      {},
      'It is your turn, ',
      name(awaited.participant),
      h('small', {}, ` ${words(awaited.phase)}, round ${awaited.round}`),
    ),
    h(
      'details',
      { open: !isChoice && awaited.prompt.length < 700 },
      h('summary', {}, 'What you are asked'),
      h('div.said', { tabIndex: 0, role: 'region', 'aria-label': 'The question to you' }, markdown(awaited.prompt)),
    ),
    options?.root,
    text,
    h('menu', {}, send),
  );
  text.addEventListener('input', () => keep(place, text.value));
  sends(element);
  return element;
}

/** Options to choose from, and a confidence. */
function choice(options) {
  const sure = h('input', {
    type: 'range',
    min: 0,
    max: 1,
    step: 0.05,
    value: 0.8,
    'aria-label': 'How sure you are',
  });
  const shown = h('output', {}, '0.80');
  sure.addEventListener('input', () => {
    shown.value = Number(sure.value).toFixed(2);
  });
  const option = (it) =>
    h('label.choice', {}, h('input', { type: 'radio', name: 'choice', value: it, required: true }), h('bdi', {}, it));
  const root = h(
    'fieldset',
    {},
    h('legend', {}, 'Your vote'),
    options.map(option),
    h('label.sure', {}, 'How sure? ', sure, shown),
  );
  const read = (reasons) =>
    `${root.querySelector('input[type=radio]:checked').value}\n${reasons.trim()}\nConfidence: ${Number(sure.value).toFixed(2)}`;
  return { root, read };
}

/**
 * An awaited decision: its subject, and a button for each choice and each candidate it may name.
 */
function decision(id, state, { kind, about, reason, choices, candidates }) {
  const known = rulingOf(state, kind);
  const rule = async (ruling) => {
    try {
      await post(`/api/discussions/${id}/ruling`, { kind, ...ruling });
    } catch (error) {
      notice(error.message, 'error');
    }
  };
  const summary = (choice) => known?.choices.find((it) => it.name === choice)?.summary;
  const label = (choice) => capital(words(choice));
  const button = (choice, candidate) =>
    h(
      'button',
      { type: 'button', title: summary(choice), on: { click: () => rule({ choice, candidate }) } },
      label(choice),
      candidate && [': ', name(candidate)],
    );
  const told = choices.filter((it) => summary(it.name));
  return h(
    'section.person',
    { 'aria-label': 'A decision is awaited' },
    h('h2', {}, known?.summary ?? `A decision is awaited: ${words(kind)}`),
    h('p', {}, name(about), `: ${reason}`),
    h('dl.choices', {}, told.map((it) => [h('dt', {}, label(it.name)), h('dd', {}, summary(it.name))])),
    h(
      'menu',
      {},
      choices.map((it) => (it.takes_candidate ? candidates.map((who) => button(it.name, who)) : button(it.name))),
    ),
  );
}
