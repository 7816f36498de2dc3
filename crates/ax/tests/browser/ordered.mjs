// Starting discussions on the page: with a plan, from a preset, in a session, with a decision by
// people, and with the options of a pattern from another crate.

import { addSeats, assert, choosePattern, EVENTS, record, scenario, tell } from './harness.mjs';

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

/** The possible decisions, and the effect of each. */
const RULINGS = [
  ['Swap: claude', { choice: 'swap', candidate: 'claude' }],
  ['Go without', { choice: 'go-without', candidate: undefined }],
  ['End', { choice: 'end', candidate: undefined }],
];

await scenario(CONFIG, async (server, open) => {
  const page = await open();
  await pressed(page, server);
  await planned(page, server);
  await preset(page, server);
  await session(page, server);
  await declared(page, server);
  await foreign(page, server);
  for (const [label, ruling] of RULINGS) await decided(page, server, label, ruling);
});

/** The first plan redrew the buttons, and a click under way added nobody. */
async function pressed(page, server) {
  let answer;
  const held = new Promise((done) => (answer = done));
  await page.route('**/api/plan', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(server.base);
  await page.hover('.pill[value=claude]');
  await page.mouse.down();
  answer();
  await page.waitForSelector('.usual >> text=The default panel: claude, glm, qwen, gemini.');
  await page.mouse.up();
  await page.waitForSelector('.seat >> text=claude');
  await page.unroute('**/api/plan');
}

/** The plan follows the form: the calls, the cost, and what prevents a start. */
async function planned(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  assert.equal(await page.isVisible('.plan'), false);
  await page.fill('textarea[name=topic]', 'Tabs or spaces?');
  await page.fill('input[name=rounds]', '3');
  // Nobody is chosen: the panel of the command.
  await page.waitForSelector('.usual >> text=The default panel: claude, glm, qwen, gemini.');
  await page.waitForSelector('.plan .sentence >> text=claude, glm, qwen and gemini talk for 3 rounds; then claude decides, in 13 calls.');
  await addSeats(page, 'claude', 'gemini', 'openai');
  await page.waitForSelector('.plan .sentence >> text=claude, gemini and openai talk for 3 rounds; then claude decides, in 10 calls.');
  assert.equal(await page.isVisible('.plan table'), false);
  await page.click('.plan summary');
  await page.waitForSelector('.plan li >> text=Rounds 1 to 3: answering (claude + gemini + openai)');
  assert.match(await page.innerText('.plan table'), /Typically\s+10\s+[\d.]+k\s+nothing/);
  // The same provider twice, with a model of its own.
  await addSeats(page, 'claude');
  await page.selectOption('.seat >> nth=3 >> select', 'claude-opus-5');
  await page.waitForSelector('.plan .sentence >> text=claude, gemini, openai and claude/claude-opus-5 talk');
  for (let at = 0; at < 4; at++) await page.click('.seat >> nth=0 >> button');
  await addSeats(page, 'grok');
  await page.waitForSelector('.plan >> text=takes 2 to 6 providers; 1 is named');
  await page.click('text=Start the discussion');
  await page.waitForSelector('.wrong >> text=takes 2 to 6 providers; 1 is named');
  assert.equal(new URL(page.url()).pathname, '/');
}

/** A preset's values are shown, can be changed, and are what is sent. */
async function preset(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.fill('textarea[name=topic]', 'What is for lunch?');
  await page.selectOption('select[name=preset]', 'quick');
  await page.waitForSelector('.plan li >> text=Round 1: speaking (claude, then gemini)', { state: 'attached' });
  assert.deepEqual(
    await page.evaluate(() => {
      const { elements } = document.querySelector('form.order');
      return ['pattern', 'rounds', 'minutes', 'option-threshold'].map((it) => elements[it].value);
    }),
    ['roundtable', '1', '3', '0.7'],
  );
  await page.fill('input[name=rounds]', '2');
  await page.click('text=Start the discussion');
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  assert.deepEqual(
    await page.evaluate(() => {
      const { pattern, rounds, settings, timing, participants } = quorum.whole.spec;
      return [pattern, rounds, settings.threshold, timing.total_ms, participants.map((it) => it.name)];
    }),
    ['roundtable', 2, 0.7, 180000, ['claude', 'gemini']],
  );
  // A preset's own participants are kept if no others are chosen.
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.fill('textarea[name=topic]', 'Who comes?');
  await page.selectOption('select[name=preset]', 'guests');
  await page.waitForSelector('.plan li >> text=(qwen, then glm, then ada)', { state: 'attached' });
}

/** A session is created with the first discussion in it, and the list can be filtered by it. */
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

/** Each option has a field while a pattern that declares it is chosen, and is sent only then. */
async function declared(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.fill('textarea[name=topic]', 'Who argues what?');
  const orders = [];
  page.on('request', (it) => it.url().endsWith('/api/discussions') && it.method() === 'POST' && orders.push(it.postDataJSON()));
  assert.equal(await page.locator('[name=option-judge]').count(), 0);
  await choosePattern(page, 'debate');
  await page.click('.own summary');
  await addSeats(page, 'claude', 'gemini', 'openai');
  await page.selectOption('[name=option-judge]', 'openai');
  await page.selectOption('[name=option-mode]', { index: 2 });
  await page.fill('[name=option-roundLimit]', '2');
  await page.check('[name=option-swapCheck]');
  await page.check('[name=option-endOn][value=drift]');
  for (const [at, who, position] of [
    [0, 'claude', 'tabs'],
    [1, 'gemini', 'spaces'],
    [2, 'claude', 'neither'],
  ]) {
    await page.click('text=Add a row');
    await page.selectOption(`.row >> nth=${at} >> select`, who);
    await page.fill(`.row >> nth=${at} >> input >> nth=0`, position);
  }
  await page.click('.row >> nth=2 >> text=Remove');
  // A removed participant can no longer be chosen.
  await addSeats(page, 'grok');
  await page.click('.seat:has-text("openai") button');
  assert.equal(await page.inputValue('[name=option-judge]'), '');
  await page.selectOption('[name=option-judge]', 'grok');
  await page.selectOption('[name=option-debateFormat]', 'round-limited');
  await page.click('text=Start the discussion');
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  const { judge, roundLimit, swapCheck, endOn, positions, debateFormat } = orders.at(-1);
  assert.deepEqual(
    { judge, roundLimit, swapCheck, endOn, positions, debateFormat },
    {
      judge: 'grok',
      roundLimit: 2,
      swapCheck: true,
      endOn: ['drift'],
      positions: [
        { participant: 'claude', position: 'tabs' },
        { participant: 'gemini', position: 'spaces' },
      ],
      debateFormat: 'round-limited',
    },
  );
  await page.waitForSelector('.results .panel');
  // Values filled in for one pattern are not sent with another.
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.fill('textarea[name=topic]', 'And now?');
  await choosePattern(page, 'debate');
  await page.click('.own summary');
  await page.fill('[name=option-roundLimit]', '2');
  await choosePattern(page, 'round-robin');
  assert.equal(await page.locator('[name=option-roundLimit]').count(), 0);
  await page.click('text=Start the discussion');
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  assert.equal(orders.at(-1).roundLimit, undefined);
}

/** A pattern of another crate: its option has a field, and its reply and result are drawn. */
async function foreign(page, server) {
  const schema = { type: 'integer', minimum: 1, maximum: 9, default: 2 };
  const relay = {
    name: 'relay',
    summary: 'Each adds to what was said before',
    usual: { rounds: 2, consensus: 'synthesis', seats: [2, 6] },
    options: [{ name: 'legsRun', flag: 'legs-run', summary: 'How often', kind: 'whole', onSurfaces: true, schema }],
    roles: [],
    forms: [{ kind: 'time', view: { kind: 'line', label: 'Seconds', cell: 'number' } }],
    results: [{ name: 'laps', title: 'Laps', view: { kind: 'numbers', number: '/seconds', unit: '/unit' } }],
    endings: [{ name: 'tired', summary: 'Everybody is out of breath' }],
    rulings: [],
  };
  await page.route('**/api/patterns', (route) => route.fulfill({ json: [relay] }));
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.click('.own summary');
  assert.match(await page.textContent('.own label'), /Legs run.*How often/);
  const drawn = await page.evaluate(() => {
    const { type, min, max, placeholder } = document.querySelector('[name=option-legsRun]');
    return { type, min, max, placeholder };
  });
  assert.deepEqual(drawn, { type: 'number', min: '1', max: '9', placeholder: '2' });
  await page.fill('[name=option-legsRun]', '3');
  const [sent] = await Promise.all([
    page.waitForRequest((it) => it.url().endsWith('/api/plan') && it.postDataJSON().legsRun === 3),
    page.fill('textarea[name=topic]', 'Who is faster?'),
  ]);
  assert.equal(sent.postDataJSON().pattern, 'relay');
  // A record of this pattern, in place of another discussion's.
  const id = (await server.post('/api/discussions', { topic: 'Who is faster?', rounds: 1 })).discussionId;
  const facts = await record(server, id);
  const { turn, step } = facts.find((it) => it.type === 'turn_completed');
  facts[0].spec.pattern = 'relay';
  turn.form = 'time';
  const at = facts.findIndex((it) => it.type === 'turn_completed') + 1;
  const reading = { kind: 'time', value: 11.5, told: 'ran in 11.5 s' };
  const { participant, round } = turn;
  const read = { ...facts[at], type: 'reply_read', step: `${step}/read`, participant, round, source: 'stated', reading };
  const note = { ...facts[at], type: 'noted', kind: 'lap', round: 1, value: {}, told: 'the baton fell' };
  const ended = { ...facts[at], type: 'talk_ended', round: 1, why: 'tired', stopping: 'completed' };
  facts.splice(at, 0, read, note, ended);
  await tell(page, facts.map((it, at) => ({ ...it, seq: at + 1 })));
  const result = JSON.parse(await server.get(`/api/discussions/${id}/result`));
  const laps = [11.5, 12.5, 14].map((seconds) => ({ participant, round: 1, seconds, unit: 's' }));
  await page.route('**/result', (route) => route.fulfill({ json: { ...result, laps } }));
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForSelector('.results >> text=From 11.5 to 14, the median 12.5');
  assert.deepEqual(await page.locator('.results h2').allTextContents(), ['Laps']);
  assert.match(await page.textContent('.results table'), /11\.5 s.*12\.5 s.*14 s/);
  await page.waitForSelector('.turn >> text=Ran in 11.5 s');
  await page.waitForSelector('.turn >> text=Seconds: 11.5');
  await page.waitForSelector('.panel >> text=the baton fell');
  await page.waitForSelector('.panel >> text=Everybody is out of breath');
  for (const it of ['**/api/patterns', '**/result', EVENTS]) await page.unroute(it);
}

/** A decision is awaited: its choices are on the page, and the chosen one takes effect. */
async function decided(page, server, label, ruling) {
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
  await page.waitForSelector('.person >> text=Decide who replaces a judge that failed');
  assert.equal(await page.textContent('.chip.state'), 'a decision is awaited');
  await page.click(`.person button >> text=${label}`);
  await page.waitForFunction(() => quorum.whole.conclusion);
  const { choice, candidate } = await page.evaluate(() => quorum.facts.find((it) => it.type === 'ruled'));
  assert.deepEqual({ choice, candidate }, ruling);
  assert.equal(await page.isVisible('.person'), false);
}
