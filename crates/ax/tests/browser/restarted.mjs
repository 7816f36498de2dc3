// The server is killed twice during a discussion: the page says so, reconnects by itself, and shows
// everything once and in order.

import { assert, record, scenario } from './harness.mjs';

await scenario('[defaults]\nsimulate = "latency=700ms"\nseed = 11\n', async (server, open) => {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'Does it go on?',
    pattern: 'round-robin',
    rounds: 2,
    providers: ['claude', 'gemini', 'qwen'],
  });
  const page = await open();
  await page.goto(`${server.base}/d/${id}`);
  for (const turns of [2, 4]) {
    await page.waitForFunction((turns) => quorum.whole.turns.length >= turns && quorum.texts.size > 0, turns);
    await server.kill();
    await page.waitForSelector('.banner[data-kind=error]:not([hidden])');
    assert.match(await page.textContent('.banner'), /Connection lost/);
    await server.start();
    await page.waitForSelector('.banner[data-kind=error]', { state: 'hidden' });
  }
  await page.waitForFunction(() => quorum.whole.conclusion);
  const seen = await page.evaluate(() => quorum.facts);
  assert.deepEqual(
    seen.map((it) => it.seq),
    seen.map((_, at) => at + 1),
  );
  assert.deepEqual(seen, await record(server, id));
  assert.ok(
    seen.some((it) => it.type === 'call_placed' && it.repeats),
    'it was killed in the middle of a call',
  );
  assert.equal(await page.textContent('.chip.state'), 'finished');
  console.log(`killed twice, ${seen.length} events, no gap, no repeat`);
});
