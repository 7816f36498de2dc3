// Earlier discussions: what everyone was shown of them, and the next question to the same panel.

import { post } from './api.js';
import { bullets, fill, h, memo, sends } from './dom.js';
import { decimals, words } from './figures.js';
import { isOver } from './fold.js';
import { refused } from './plan.js';

/** What everyone was shown of earlier discussions, a line for each. */
export function earlier() {
  const root = h('details.earlier', { hidden: true });
  const made = memo();
  const update = ({ spec }) =>
    made(String(Boolean(spec.recalled)), () => {
      root.hidden = !spec.recalled;
      if (!spec.recalled) return;
      const numbers = { followed: 0, recalled: 0 };
      const line = (it) => {
        const why = it.why ?? 'recalled';
        numbers[why] += 1;
        const number = `${why === 'followed' ? 'F' : 'R'}${numbers[why]}`;
        const score = it.score === undefined ? '' : `, relevance ${decimals(it.score, 2)}`;
        return [
          `[${number}] `,
          h('a', { href: `/d/${it.id}` }, h('bdi', {}, it.topic)),
          ` (${why}${score}, ${it.tokens} tokens${it.cut ? ', cut' : ''})`,
        ];
      };
      const lines = spec.recalled.map(line);
      const replaced = (spec.follows?.replaced ?? []).map((it) => `${it.by} has the seat of ${it.seat}, which is not available any more.`);
      const before = spec.follows?.pattern;
      const pattern = before ? [`${words(before)} votes on options, and this question has none, so the pattern is ${words(spec.pattern)}.`] : [];
      const title = lines.length
        ? `Everyone was shown what earlier discussions came to (${lines.length})`
        : 'Nothing was recalled: no earlier discussion is about this.';
      fill(root, h('summary', {}, title), bullets([...lines, ...replaced, ...pattern]));
    });
  return { root, update };
}

/** The box for the next question, under an answer. */
export function follow(id) {
  const question = h('textarea', {
    name: 'question',
    rows: 2,
    required: true,
    maxlength: 5000,
    placeholder: 'And the next question?',
    'aria-label': 'The next question to the same panel',
  });
  const wrong = h('div.wrong', { role: 'alert', hidden: true });
  const go = h('button.primary', {}, 'Ask the same panel');
  const root = h(
    'form.follow',
    { hidden: true, 'aria-label': 'Ask the next question', on: { submit } },
    question,
    wrong,
    go,
  );
  sends(root);
  addEventListener('pageshow', () => (go.disabled = false));

  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    wrong.hidden = true;
    try {
      const order = { topic: question.value, follows: id };
      const { discussionId } = await post('/api/discussions', order, {
        'Idempotency-Key': crypto.randomUUID?.() ?? String(Math.random()),
      });
      location.assign(`/d/${discussionId}`);
    } catch (error) {
      go.disabled = false;
      wrong.hidden = false;
      fill(wrong, refused(error));
    }
  }

  // A run of steps has no panel that could be asked again.
  const update = (state) => (root.hidden = !(state.decision && isOver(state)) || Boolean(state.spec?.plan));
  return { root, update };
}
