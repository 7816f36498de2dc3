// Who said it: numbers after the sentences of an answer show the turn with its words marked, with a
// mouse, with a keyboard, and without scripts; pictures of it in light and dark.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { assert, record, scenario, SCREENSHOTS } from './harness.mjs';

await scenario('[defaults]\nsimulate = "latency=0ms"\n', async (server, open) => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'Should we move the billing service to event sourcing?',
    pattern: 'synthesis',
    providers: ['claude', 'gemini', 'qwen'],
    seed: 5,
  });
  await record(server, id);
  const result = JSON.parse(await server.get(`/api/discussions/${id}/result`));
  const letters = [...result.synthesis];
  const sourced = result.provenance.filter((it) => it.sources?.length && it.level !== 'own');
  assert.ok(sourced.length > 1, JSON.stringify(result.provenance));
  assert.ok(!/\[(claude|gemini|qwen):\d/.test(result.synthesis), result.synthesis);

  const page = await open();
  await page.goto(`${server.base}/d/${id}`);
  const numbers = page.locator('.synthesis sup.source button');
  await numbers.first().waitFor();
  const shown = await numbers.count();
  const doubtful = result.provenance.filter((it) => ['unsupported', 'contradicted?'].includes(it.level));
  assert.equal(shown, new Set([...sourced, ...doubtful]).size);
  assert.match(await page.locator('.synthesis aside').textContent(), /of \d+ sentences? ha(s|ve) a source in the discussion/);

  // By keyboard: the number is a button, Escape closes the dialog.
  await numbers.first().focus();
  await page.keyboard.press('Enter');
  const dialog = page.locator('dialog[open]');
  await dialog.waitFor();
  const [first] = sourced;
  const { participant, round, start, end, step } = first.sources[0];
  const said = result.rounds.flatMap((it) => it.responses).find((it) => `${it.round}/${it.phase}/${it.provider}` === step);
  const words = (text) => text.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
  const marked = words((await dialog.locator('article mark').allTextContents()).join(' '));
  assert.ok(marked.includes(words([...said.content].slice(start, end).join(''))), marked);
  const told = await dialog.textContent();
  assert.ok(told.includes(participant) && told.includes(`round ${round}`), told);
  assert.ok(words(told).includes(words(letters.slice(first.start, first.end).join(''))), told);
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SCREENSHOTS, `sources-dialog-${colorScheme}.png`) });
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SCREENSHOTS, `sources-${colorScheme}.png`) });
  }

  // Without scripts the numbers lead to the turns.
  const plain = await open({ javaScriptEnabled: false });
  await plain.goto(`${server.base}/d/${id}`);
  const links = plain.locator('sup a');
  assert.ok((await links.count()) >= sourced.length);
  await links.first().click();
  const target = plain.locator('article:target');
  assert.ok((await target.locator('mark').count()) > 0);
  for (const colorScheme of ['light', 'dark']) {
    await plain.emulateMedia({ colorScheme });
    await plain.screenshot({ path: join(SCREENSHOTS, `sources-read-${colorScheme}.png`) });
  }
});
