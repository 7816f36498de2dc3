// Edge cases of the pages: missing data, no server, wrong clocks, two tabs, no mouse, and texts
// that are too long.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { assert, choosePattern, scenario, SCREENSHOTS } from './harness.mjs';

const WIDTHS = [1280, 640, 375, 320];

const AWKWARD = [
  `A word: ${'x'.repeat(3000)}`,
  `An address: https://example.org/${'path/'.repeat(200)}?q=${'y'.repeat(500)}`,
  '```\n' + 'z'.repeat(600) + '\n```',
  `| ${'head | '.repeat(15)}\n|${'---|'.repeat(15)}\n| ${'cellcellcell | '.repeat(15)}`,
  'שלום עולם. זהו טקסט מימין לשמאל, with some English inside.',
  'مرحبا بالعالم، هذا نص من اليمين إلى اليسار.',
  `${'> '.repeat(30)}deep`,
  `${'- a\n  '.repeat(30)}`,
  'Zero\u200bwidth, \u202eoverride, e\u0301\u0301\u0301\u0301\u0301, 👩‍👩‍👧‍👦',
].join('\n\n');

await scenario('[defaults]\nsimulate = "latency=0ms"\nseed = 7\n', async (server, open) => {
  await missing(server, open);
  await skewed(server, open);
  await tabs(server, open);
  await back(server, open);
  await keys(server, open);
  await listed(server, open);
  await awkward(server, open);
  await unanswered(server, open);
});

/** A missing discussion is reported with a link back; an empty history says what will appear. */
async function missing(server, open) {
  const page = await open();
  await page.goto(server.base);
  await page.waitForSelector('.history >> text=Nothing has been discussed yet');
  await page.fill('input[type=search]', 'nothing <b>like</b> it');
  await page.waitForSelector('.history >> text=Nothing was found for “nothing <b>like</b> it”');
  for (const path of ['/d/nope', '/d/00000000-0000-4000-8000-000000000000', '/d/01a1dee6-6497-7331-851e-8c48295dc57b']) {
    await page.goto(server.base + path);
    await page.waitForSelector('.missing h1 >> text=There is no such discussion');
    assert.equal(await page.title(), 'There is no such discussion · Quorum');
    assert.equal(await page.locator('#main > *').count(), 1);
  }
  await page.click('.missing a');
  await page.waitForSelector('form.order');
}

/** A visitor's clock that is an hour off changes nothing. */
async function skewed(server, open) {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'What time is it?',
    pattern: 'round-robin',
    rounds: 1,
    simulate: { latencyMs: 4000 },
  });
  for (const hours of [-1, 1]) {
    const page = await open();
    await page.addInitScript((ahead) => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + ahead;
    }, hours * 3600e3);
    await page.goto(`${server.base}/d/${id}`);
    await page.waitForFunction(() => /thinking \d|speaking/.test(document.querySelector('.columns')?.textContent));
    const thinking = /thinking (\d+) s/.exec(await page.textContent('.columns'));
    assert.ok(Number(thinking?.[1] ?? 0) < 60, thinking?.[0]);
    assert.match(await page.innerText('.strip'), /Time\s+0:\d\d of/);
    await page.close();
  }
  await server.post(`/api/discussions/${id}/abort`, {});
}

/** One tab shows what another does; a page reloaded in the middle continues, and Back works. */
async function tabs(server, open) {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'Two tabs?',
    pattern: 'roundtable',
    rounds: 2,
    participants: ['claude', 'ada:person'],
  });
  const [one, two] = [await open(), await open()];
  for (const page of [one, two]) {
    await page.goto(server.base);
    await page.click('.entry a >> text=Two tabs?');
    await page.waitForSelector('.person textarea');
  }
  await two.fill('.person textarea', 'Half written');
  await one.fill('.person textarea', 'From the first tab.');
  await one.click('.person .primary');
  await two.waitForFunction(() => quorum.whole.awaiting[0]?.round === 2);
  assert.equal(await two.inputValue('.person textarea'), 'Half written');
  assert.equal(await one.inputValue('.person textarea'), '');
  await one.reload();
  await one.waitForSelector('.person textarea');
  assert.equal(await one.inputValue('.person textarea'), '');
  await two.reload();
  await two.waitForSelector('.person textarea');
  assert.equal(await two.inputValue('.person textarea'), 'Half written');
  await two.fill('.person textarea', 'From the second tab.');
  await two.click('.person .primary');
  for (const page of [one, two]) await page.waitForFunction(() => quorum.whole.conclusion);
  assert.deepEqual(await one.evaluate(() => quorum.facts), await two.evaluate(() => quorum.facts));
  await one.goBack();
  await one.waitForSelector('.entry a >> text=Two tabs?');
  await one.goForward();
  await one.waitForSelector('.synthesis .said p');
  assert.equal(new URL(one.url()).pathname, `/d/${id}`);
  await compared(one, server, id);
}

/** Going back to the form keeps the chosen pattern; opening it anew does not. */
async function back(server, open) {
  const page = await open();
  const chosen = () => page.inputValue('input[name=pattern]:checked');
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  const usual = await chosen();
  await choosePattern(page, 'voting');
  await page.goto(`${server.base}/compare`);
  await page.goBack();
  await page.waitForSelector('.pill');
  assert.equal(await chosen(), 'voting');
  assert.match(await page.textContent('.patterns summary .hint'), /vote/i);
  await page.goto(`${server.base}/compare`);
  await page.click('.brand');
  await page.waitForSelector('.pill');
  assert.equal(await chosen(), usual);
  await page.close();
}

/** Two discussions are chosen and shown side by side, and the address leads there again. */
async function compared(page, server, id) {
  await page.goto(`${server.base}/compare`);
  await page.waitForSelector(`option[value="${id}"]`, { state: 'attached' });
  for (const side of ['first', 'second']) await page.selectOption(`select[aria-label="The ${side} discussion"]`, id);
  await page.waitForSelector('table.figures');
  assert.equal(new URL(page.url()).search, `?a=${id}&b=${id}`);
  await page.reload();
  await page.waitForSelector('table.figures');
  assert.deepEqual(await page.locator('.side h2').allTextContents(), ['Two tabs?', 'Two tabs?']);
}

/** Everything works without a mouse. */
async function keys(server, open) {
  const page = await open({ reducedMotion: 'reduce' });
  const press = async (...all) => {
    for (const key of all) await page.keyboard.press(key);
  };
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.focus('textarea[name=topic]');
  await page.keyboard.type('No mouse?');
  // The cards open with Enter, and arrows move between them.
  await press('Tab', 'Enter', 'Tab');
  const at = await page.evaluate(() => [...document.querySelectorAll('input[name=pattern]')].findIndex((it) => it.value === 'roundtable'));
  await press(...Array(at).fill('ArrowDown'));
  await page.waitForFunction(() => document.querySelector('input[name=pattern]:checked').value === 'roundtable');
  await page.focus('input[name=me]');
  await press('Space');
  await page.focus('textarea[name=topic]');
  await press('Control+Enter');
  await page.waitForSelector('.person textarea');
  // A remark, a person's turn, and a stop.
  await press('n');
  await page.keyboard.type('Mind the time.');
  await press('Tab', 'Tab', 'Enter');
  await page.waitForSelector('.notice >> text=is shown your note');
  await press('r');
  await page.keyboard.type('Here I am.');
  await press('Control+Enter');
  await page.waitForFunction(() => quorum.whole.turns.some((it) => it.participant === 'me'));
  await page.waitForFunction(() => quorum.whole.awaiting[0]?.round === 2);
  // The text field of round 1 has gone from the page too; keys typed into it do nothing else.
  await page.waitForFunction(() => !document.activeElement.matches('textarea'));
  // A key that ends something asks first.
  await press('s');
  await page.waitForSelector('dialog >> text=Stop here?');
  await press('Escape');
  // While the dialog has the focus, keys are its own.
  await page.waitForFunction(() => !document.querySelector('dialog[open]') && !document.activeElement.closest('dialog'));
  assert.equal(await page.evaluate(() => quorum.whole.wish), null);
  await press('s');
  await page.waitForSelector('dialog >> text=Stop here?');
  await press('Control+Enter');
  await page.waitForFunction(() => quorum.whole.conclusion);
  await page.waitForSelector('.remark >> text=Mind the time.');
  // The export opens and closes, the timeline moves, and its keys work from the timeline itself.
  await press('e');
  await page.waitForSelector('.menu[open] a:focus');
  await press('Escape');
  assert.equal(await page.locator('.menu[open]').count(), 0);
  await page.focus('#position');
  const last = await page.evaluate(() => quorum.whole.seq);
  await press('ArrowLeft', 'ArrowLeft');
  await page.waitForFunction((seq) => quorum.state().seq === seq, last - 2);
  await press('l');
  await page.waitForFunction(() => quorum.state() === quorum.whole);
  await press('?');
  await page.waitForSelector('dialog[open] .keys');
  await press('Escape', 'h');
  await page.waitForSelector('form.order');
  const moving = await page.evaluate(() => document.getAnimations().filter((it) => it.playState === 'running').length);
  assert.equal(moving, 0, 'nothing moves for who wants nothing to move');
}

/** The list shows whose turn is awaited and the cost, and two entries can be compared. */
async function listed(server, open) {
  const page = await open();
  const told = [
    { topic: 'A', status: 'running', awaiting: [{ participant: 'ada', round: 1, phase: 'speaking' }] },
    { topic: 'B', status: 'running', rulingAwaited: { kind: 'chair', about: 'grok', choices: [], candidates: [] } },
    { topic: 'C', status: 'running', estimatedCost: 0.0125 },
    { topic: 'Q', status: 'ready', run: 'queued' },
    { topic: 'R', status: 'running', run: 'queued' },
    { topic: 'S', status: 'running', run: 'stuck' },
    { topic: 'D', status: 'completed', estimatedCost: 0, simulated: true },
    { topic: 'E', status: 'completed', success: false, outcome: { kind: 'answered', degraded: true } },
    { topic: 'F', status: 'completed', success: true, outcome: { kind: 'answered', degraded: true } },
    { topic: 'G', status: 'completed', success: true, outcome: { kind: 'tie', degraded: false } },
    { topic: 'H', status: 'completed', success: true, outcome: { kind: 'adopted', degraded: false } },
  ].map((it, at) => ({
    ...it,
    discussionId: `0000000${at}-0000-4000-8000-000000000000`,
    pattern: 'debate',
    startedAt: '2026-01-02T03:04:05Z',
  }));
  await page.route('**/api/discussions?*', (route) => route.fulfill({ json: told }));
  await page.goto(server.base);
  await page.waitForSelector('.entry');
  const seen = await page.evaluate(() =>
    [...document.querySelectorAll('.history h3, .entry')].map((it) =>
      it.matches('h3') ? it.textContent : `${it.querySelector('a').textContent} ${it.querySelector('.chip').textContent}`,
    ),
  );
  assert.deepEqual(seen, [
    'Waiting for people',
    'A waiting for ada',
    'B a decision is awaited',
    'Under way',
    'C running',
    'Q queued',
    'R interrupted',
    'S stuck: every attempt to go on failed',
    'Earlier',
    'D finished',
    'E finished, incomplete',
    'F finished, degraded',
    'G finished, tie',
    'H finished',
  ]);
  const lights = await page.$$eval('.entry .chip.state', (all) => all.map((it) => it.dataset.lifecycle));
  const expected = ['ready', 'running', 'error', 'completed', 'less', 'less', 'less', 'completed'];
  assert.deepEqual(lights.slice(3), expected, 'what fell short is not green, and what is stuck is red');
  assert.match(await page.textContent('.entry >> nth=2'), /\$0\.0125/);
  assert.doesNotMatch(await page.textContent('.entry >> nth=6'), /\$/);
  assert.equal(await page.textContent('.entry >> nth=6 >> .chip.warn'), 'simulated');
  // Choosing a third replaces the first.
  for (const at of [0, 1, 2]) await page.check(`.entry >> nth=${at} >> input`);
  assert.equal(await page.isChecked('.entry >> nth=0 >> input'), false);
  assert.match(await page.getAttribute('.listing a.button', 'href'), /a=00000001.*&b=00000002/);
}

/** Long words, wide tables and right-to-left text fit everywhere, zoomed in as well. */
async function awkward(server, open) {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: `Is ${'w'.repeat(400)} a word? האם זה מימין לשמאל?`,
    pattern: 'roundtable',
    rounds: 1,
    participants: ['claude', `${'n'.repeat(40)}:person`],
  });
  await server.post('/api/discussions', {
    topic: 'v'.repeat(300),
    pattern: 'voting',
    rounds: 1,
    votingOptions: ['o'.repeat(90), 'מימין לשמאל'],
    participants: ['claude', 'qwen', 'ada:person'],
  });
  const page = await open();
  await page.goto(`${server.base}/d/${id}`);
  await page.fill('.person textarea', AWKWARD);
  const fits = async (what) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${what} is ${wide} wide at ${width}`);
    }
  };
  await fits('a turn to take');
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.click('.person .primary');
  await page.waitForFunction(() => quorum.whole.conclusion && document.querySelector('.synthesis .said'));
  await fits('a discussion');
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, 'awkward-narrow.png'), fullPage: true });
  const right = await page.evaluate(() => {
    const found = [...document.querySelectorAll('.turn p')].find((it) => it.textContent.startsWith('שלום'));
    const line = document.createRange();
    line.selectNodeContents(found);
    return found.getBoundingClientRect().right - Math.max(...[...line.getClientRects()].map((it) => it.right));
  });
  assert.ok(right < 2, `writing from the right begins ${right} away from it`);
  const hidden = await page.evaluate(() => {
    const texts = [...document.querySelectorAll('.turn p')].map((it) => it.textContent);
    return texts.find((it) => it.startsWith('Zero'));
  });
  assert.equal(hidden, 'Zero<U+200B>width, override, e\u0301\u0301\u0301\u0301\u0301, 👩‍👩‍👧‍👦');
  for (const path of ['/', `/compare?a=${id}&b=${id}`]) {
    await page.goto(server.base + path);
    await page.waitForSelector('.entry, table.figures');
    await fits(path);
  }
}

/** The list says when the server is gone, and when it is back. */
async function unanswered(server, open) {
  const page = await open();
  await page.goto(server.base);
  await page.waitForSelector('.entry');
  await server.kill();
  await page.waitForSelector('.listing .banner >> text=The server does not answer.');
  await page.fill('textarea[name=topic]', 'Anybody?');
  await page.waitForSelector('.plan >> text=The server does not answer.');
  await server.start();
  await page.waitForSelector('.listing .banner', { state: 'hidden' });
}
