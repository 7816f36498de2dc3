// A person's turn: the form is right there, and what is half written stays while everything around it moves.

import { keep, post, recalled } from './api.js';
import { announce, fill, h, memo, name, notice } from './dom.js';
import { words } from './figures.js';
import { markdown } from './markdown.js';

export function person(id) {
  const root = h('div.people');
  const made = memo();
  // What was begun for a turn that another tab took is kept for the next.
  const drafts = new Map();
  const update = (state, isNow) => {
    const awaited = isNow ? state.awaiting : [];
    const vacancy = isNow ? state.vacancy : null;
    root.hidden = !awaited.length && !vacancy;
    made([...awaited, vacancy].map((it) => it?.answers).join(), () => {
      for (const it of root.querySelectorAll('textarea')) drafts.set(it.dataset.who, it.value);
      fill(
        root,
        vacancy && bench(id, vacancy),
        awaited.map((it) => form(id, state, it, drafts.get(it.participant))),
      );
      if (awaited.length) announce(`It is ${awaited[0].participant}'s turn to speak.`);
    });
  };
  return { root, update, focus: () => root.querySelector('textarea, input')?.focus() };
}

function form(id, state, awaited, draft) {
  const place = `${id}/${awaited.participant}`;
  const isBallot = awaited.shape === 'ballot' && state.spec.options?.length > 0;
  const text = h('textarea', {
    name: 'text',
    value: draft ?? recalled(place) ?? '',
    data: { who: awaited.participant },
    rows: isBallot ? 2 : 4,
    required: !isBallot,
    maxlength: 100000,
    'aria-label': isBallot ? 'Your reasons' : 'What you say',
    placeholder: isBallot ? 'Why? (if you like)' : 'Markdown is fine. Ctrl+Enter sends.',
  });
  const send = h('button.primary', {}, isBallot ? 'Vote' : 'Say it');
  const options = isBallot ? ballot(state.spec.options) : null;
  const user = state.spec.participants.find((it) => it.name === awaited.participant)?.person?.user;
  const submit = async (event) => {
    event.preventDefault();
    send.disabled = true;
    const written = text.value;
    text.value = '';
    keep(place, '');
    try {
      const said = isBallot ? options.read(written) : written;
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
      { open: !isBallot && awaited.prompt.length < 700 },
      h('summary', {}, 'What you are asked'),
      h('div.said', {}, markdown(awaited.prompt)),
    ),
    options?.root,
    text,
    h('menu', {}, send),
  );
  text.addEventListener('input', () => keep(place, text.value));
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) element.requestSubmit();
  });
  return element;
}

/** Options to choose from, and how sure one is. */
function ballot(options) {
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
  const choice = (it) =>
    h('label.choice', {}, h('input', { type: 'radio', name: 'choice', value: it, required: true }), h('bdi', {}, it));
  const root = h(
    'fieldset',
    {},
    h('legend', {}, 'Your vote'),
    options.map(choice),
    h('label.sure', {}, 'How sure? ', sure, shown),
  );
  const read = (reasons) =>
    `${root.querySelector('input[type=radio]:checked').value}\n${reasons.trim()}\nConfidence: ${Number(sure.value).toFixed(2)}`;
  return { root, read };
}

/** The judge's seat is empty: who takes it, or whether it stays so. */
function bench(id, { lost, reason, candidates }) {
  const rule = async (ruling) => {
    try {
      await post(`/api/discussions/${id}/judge`, ruling);
    } catch (error) {
      notice(error.message, 'error');
    }
  };
  const button = (label, ruling) => h('button', { type: 'button', on: { click: () => rule(ruling) } }, label);
  return h(
    'section.person',
    { 'aria-label': 'The judge’s seat' },
    h('h2', {}, 'Who judges now?'),
    h('p', {}, name(lost), ` can’t judge any more: ${reason}`),
    h(
      'menu',
      {},
      candidates.map((it) => button(`${it} judges`, { action: 'swap', to: it })),
      button('Go on without', { action: 'none' }),
      button('Conclude', { action: 'end' }),
    ),
  );
}
