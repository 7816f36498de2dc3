// 200 texts that would run if an exported page made markup of text: as the question, as speeches,
// as remarks and as options. Each export is opened without the headers that protect our own pages.

import { assert, scenario } from './harness.mjs';
import { PAYLOADS } from './payload_list.mjs';

/** Content that our export never has, in whatever place; evaluated in the page. */
const foreign = () =>
  [
    ...document.querySelectorAll(
      'script, iframe, object, embed, base, form, input, video, audio, img, svg, math, link, meta[http-equiv=refresh], body style',
    ),
  ]
    .map((it) => it.outerHTML.slice(0, 200))
    .concat(
      [...document.querySelectorAll('*')].flatMap((it) =>
        [...it.attributes].filter(({ name }) => /^on|^srcdoc$|^formaction$/.test(name)).map(({ name }) => name),
      ),
      [...document.querySelectorAll('a[href]')]
        .filter((it) => !['http:', 'https:'].includes(it.protocol))
        .map((it) => it.href),
    );

await scenario('[defaults]\nsimulate = "latency=0ms"\nseed = 3\n', async (server, open) => {
  assert.equal(PAYLOADS.length, 200);
  const page = await open();
  let body = '';
  await page.route('**/exported', (route) => route.fulfill({ contentType: 'text/html', body }));

  const look = async (id) => {
    body = await server.get(`/api/discussions/${id}/export?format=html`);
    assert.ok(body.startsWith('<!doctype html>') || body.startsWith('<!DOCTYPE html>'), body.slice(0, 80));
    await page.goto(`${server.base}/exported`);
    await page.evaluate(() => {
      for (const it of document.querySelectorAll('details')) it.open = true;
      for (const it of document.querySelectorAll('*'))
        for (const kind of ['mouseover', 'focus', 'toggle', 'error', 'load', 'animationstart'])
          it.dispatchEvent(new Event(kind, { bubbles: true }));
      return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    });
    assert.deepEqual(await page.evaluate(foreign), [], id);
  };

  const { discussionId: spoken } = await server.post('/api/discussions', {
    topic: PAYLOADS[0],
    pattern: 'roundtable',
    rounds: 10,
    participants: ['claude', 'ada:person'],
  });
  for (let turn = 0; turn < 10; turn++) {
    let state;
    do state = JSON.parse(await server.get(`/api/discussions/${spoken}/state`));
    while (!JSON.stringify(state).includes(`"round":${turn + 1}`) || state.status === 'running');
    await server.post(`/api/discussions/${spoken}/say`, {
      text: PAYLOADS.slice(turn * 20, turn * 20 + 20).join('\n\n'),
    });
  }
  await server.get(`/api/discussions/${spoken}/events`);
  await look(spoken);
  assert.ok((await page.locator('p, li, pre, td').count()) > 100);

  for (const topic of PAYLOADS.filter((_, at) => at % 5 === 1)) {
    const options = PAYLOADS.filter((it) => it.length < 90 && !it.includes('\n')).slice(0, 6);
    const { discussionId: vote } = await server.post('/api/discussions', {
      topic,
      pattern: 'voting',
      rounds: 1,
      votingOptions: options,
      providers: ['claude', 'gemini', 'qwen'],
    });
    await server.get(`/api/discussions/${vote}/events`);
    await look(vote);
  }
  console.log(`attack: XSS in Chromium, exported pages | ${PAYLOADS.length} | 0`);
});
