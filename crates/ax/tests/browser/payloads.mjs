// 200 texts that would run if the page made markup of text: as questions, as speeches, as votes, on
// every page.

import { assert, scenario, strange } from './harness.mjs';
import { PAYLOADS } from './payload_list.mjs';

const HALF = 100;

await scenario('[defaults]\nsimulate = "latency=0ms"\nseed = 3\n', async (server, open) => {
  assert.equal(PAYLOADS.length, 200);
  const page = await open();
  const look = async (path, ready) => {
    await page.goto(server.base + path);
    await page.waitForFunction(ready);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    assert.deepEqual(await page.evaluate(strange), [], path);
    assert.deepEqual(await page.evaluate(() => reports), [], path);
  };

  // As questions: all in the list, and every tenth on its own page, where the voices quote it.
  const ids = [];
  for (const from of [0, HALF]) {
    const ordered = PAYLOADS.slice(from, from + HALF).map((topic) =>
      server.post('/api/discussions', { topic, rounds: 1, providers: ['claude', 'gemini'] }),
    );
    ids.push(...(await Promise.all(ordered)).map((it) => it.discussionId));
    await look('/', () => document.querySelectorAll('.entry').length === 100);
  }
  for (const [at, id] of ids.entries())
    if (at % 10 === 0) await look(`/d/${id}`, () => globalThis.quorum?.whole.conclusion);
  await look(`/compare?a=${ids[3]}&b=${ids[120]}`, () => document.querySelector('table.figures'));

  // As speeches and as remarks: all of them, twenty a turn, through the columns and the transcript.
  const { discussionId: spoken } = await server.post('/api/discussions', {
    topic: 'Speak.',
    pattern: 'roundtable',
    rounds: 10,
    participants: ['claude', 'ada:person'],
  });
  await page.goto(`${server.base}/d/${spoken}`);
  for (let turn = 0; turn < 10; turn++) {
    await page.waitForFunction((turn) => globalThis.quorum?.whole.awaiting[0]?.round === turn + 1, turn);
    await server.post(`/api/discussions/${spoken}/say`, {
      text: PAYLOADS.slice(turn * 20, turn * 20 + 20).join('\n\n'),
    });
    if (turn < 9) await server.post(`/api/discussions/${spoken}/note`, { text: PAYLOADS[turn * 20] });
  }
  await page.waitForFunction(() => quorum.whole.conclusion);
  await page.evaluate(async () => {
    for (const it of document.querySelectorAll('.turn')) {
      it.scrollIntoView();
      await new Promise(requestAnimationFrame);
    }
  });
  assert.ok((await page.locator('.turn .said p').count()) > 100);
  assert.deepEqual(await page.evaluate(strange), []);
  assert.deepEqual(await page.evaluate(() => reports), []);

  // As options that are voted for.
  const { discussionId: vote } = await server.post('/api/discussions', {
    topic: 'Vote.',
    pattern: 'voting',
    rounds: 1,
    votingOptions: PAYLOADS.slice(0, 40)
      .filter((it) => it.length < 90 && !it.includes('\n'))
      .slice(0, 8),
    providers: ['claude', 'gemini', 'qwen'],
  });
  await look(`/d/${vote}`, () => globalThis.quorum?.whole.conclusion && document.querySelector('.tally'));

  // Without scripts.
  const plain = await open({ javaScriptEnabled: false });
  for (const id of [...ids.filter((_, at) => at % 20 === 5), spoken, vote])
    await plain.goto(`${server.base}/d/${id}`);
  await alarm(open);
  console.log(`attack: XSS in Chromium, every page | ${PAYLOADS.length} | 0`);
});

/** The alarm itself works: markup is refused, and an image from another host is reported. */
async function alarm(open) {
  const page = await open();
  await page.goto('/');
  const refused = await page.evaluate(async () => {
    const tried = (attempt) => {
      try {
        attempt();
        return 'let in';
      } catch (error) {
        return error.name;
      }
    };
    const reported = new Promise((done) =>
      document.addEventListener('securitypolicyviolation', done, { once: true }),
    );
    const markup = tried(() => (document.body.innerHTML = '<b>bold</b>'));
    await reported;
    new Image().src = 'http://evil.test/p.png';
    while (!globalThis.reports.some((it) => it.startsWith('img-src')))
      await new Promise((done) => setTimeout(done, 10));
    return markup;
  });
  assert.equal(refused, 'TypeError');
  assert.ok(page.wrong.some((it) => it.startsWith('report:')));
  page.wrong.length = 0;
}
