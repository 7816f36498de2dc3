// What can be ordered on the page: with its plan, from a preset, in a session, with a judge that people replace.

import { assert, scenario } from './harness.mjs';

const CONFIG = `[defaults]
simulate = "latency=0ms"
[presets.quick]
pattern = "roundtable"
rounds = 1
providers = "claude,gemini"
budget = "3m"
threshold = 0.7
[presets.guests]
pattern = "roundtable"
participants = "qwen,glm,ada:person"
`;

/** What can be said, and what comes of it. */
const RULINGS = [
  ['claude judges', { rule: 'swap', to: 'claude' }],
  ['Go on without', { rule: 'go-without', to: undefined }],
  ['Conclude', { rule: 'end', to: undefined }],
];

await scenario(CONFIG, async (server, open) => {
  const page = await open();
  await planned(page, server);
  await preset(page, server);
  await session(page, server);
  for (const [label, ruling] of RULINGS) await replaced(page, server, label, ruling);
});

/** The plan follows the form: what is asked, what it costs, and what stands in the way. */
async function planned(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  assert.equal(await page.isVisible('.plan'), false);
  await page.fill('textarea[name=topic]', 'Tabs or spaces?');
  await page.fill('input[name=rounds]', '3');
  await page.waitForSelector('.plan li >> text=Rounds 1 to 3: answering (claude + gemini + openai)');
  assert.match(await page.innerText('.plan table'), /Usually up to\s+10\s+[\d.]+k\s+nothing/);
  for (const it of ['claude', 'gemini', 'openai']) await page.uncheck(`input[value=${it}]`);
  await page.check('input[value=grok]');
  await page.waitForSelector('.plan >> text=takes 2 to 6 providers; 1 is named');
  await page.click('text=Start the discussion');
  await page.waitForSelector('.wrong >> text=takes 2 to 6 providers; 1 is named');
  assert.equal(new URL(page.url()).pathname, '/');
}

/** What a preset says is shown, can be changed, and is what is ordered. */
async function preset(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.fill('textarea[name=topic]', 'What is for lunch?');
  await page.selectOption('select[name=preset]', 'quick');
  await page.waitForSelector('.plan li >> text=Round 1: speaking (claude, then gemini)');
  assert.deepEqual(
    await page.evaluate(() => {
      const { pattern, rounds, minutes, threshold } = document.querySelector('form.order').elements;
      return [pattern, rounds, minutes, threshold].map((it) => it.value);
    }),
    ['roundtable', '1', '3', '0.7'],
  );
  await page.fill('input[name=rounds]', '2');
  await page.click('text=Start the discussion');
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  assert.deepEqual(
    await page.evaluate(() => {
      const { pattern, rounds, consensus, timing, participants } = quorum.whole.spec;
      return [pattern, rounds, consensus.threshold, timing.total_ms, participants.map((it) => it.name)];
    }),
    ['roundtable', 2, 0.7, 180000, ['claude', 'gemini']],
  );
  // A preset's own guests stay where nobody else is chosen.
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.fill('textarea[name=topic]', 'Who comes?');
  await page.selectOption('select[name=preset]', 'guests');
  await page.waitForSelector('.plan li >> text=(qwen, then glm, then ada)');
}

/** A session is made with the first order for it, and the list can be narrowed to it. */
async function session(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.fill('textarea[name=topic]', 'Which paper size?');
  await page.click('.more summary');
  await page.selectOption('select[name=session]', 'new');
  await page.fill('input[name=named]', 'Office');
  await page.click('text=Start the discussion');
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  await page.goto(server.base);
  await page.waitForSelector('.entry >> text=What is for lunch?');
  await page.selectOption('.listing select', { label: 'Office' });
  await page.waitForSelector('.entry >> text=What is for lunch?', { state: 'detached' });
  assert.deepEqual(await page.locator('.entry a').allTextContents(), ['Which paper size?']);
}

/** The judge is gone: who judges now is asked on the page, and what was said is done. */
async function replaced(page, server, label, ruling) {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'Who judges?',
    pattern: 'debate',
    rounds: 2,
    providers: ['claude', 'gemini', 'qwen', 'grok'],
    judge: 'grok',
    judgeFailure: 'ask',
    simulate: { latencyMs: 0, dead: ['grok'] },
  });
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForSelector('.person >> text=Who judges now?');
  assert.equal(await page.textContent('.chip.state'), 'the judge’s seat is empty');
  await page.click(`.person button >> text=${label}`);
  await page.waitForFunction(() => quorum.whole.conclusion);
  const { rule, to } = await page.evaluate(() => quorum.facts.find((it) => it.type === 'judge_changed'));
  assert.deepEqual({ rule, to }, ruling);
  assert.equal(await page.isVisible('.person'), false);
}
