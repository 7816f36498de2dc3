// Agents are chosen on the page, which says through whom each would speak; and the box under an
// answer asks the same panel the next question.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addSeats, assert, scenario } from './harness.mjs';

const folder = join(process.env.QUORUM_FOLDER, 'agents');
mkdirSync(folder, { recursive: true });
const profile = (id, more) =>
  writeFileSync(join(folder, `${id}.json`), JSON.stringify({ agentId: id, systemPrompt: `You are ${id}.`, ...more }));
profile('reviewer', {
  displayName: 'The Reviewer',
  role: 'review',
  description: 'Reads the diff first',
  providerAffinity: { preferred: ['alpha'] },
});
profile('retired', { enabled: false });

const CONFIG = `[defaults]
simulate = "latency=0ms"
[providers.alpha]
wire = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
model = "alpha-1"
price = { input = 1.0, output = 2.0 }
`;

await scenario(CONFIG, async (server, open) => {
  const page = await open();
  const first = await picked(page, server);
  await followed(page, server, first);
});

/** The picker shows enabled agents with the provider behind them, and a chosen one takes part. */
async function picked(page, server) {
  await page.goto(server.base);
  const agents = page.locator('.pill[value$=":agent"]');
  await agents.first().waitFor();
  const shown = (await agents.allInnerTexts()).map((it) => it.replaceAll(/\s+/g, ' '));
  assert.deepEqual(shown, ['+ The Reviewer through alpha']);
  assert.equal(await agents.getAttribute('title'), 'review: Reads the diff first');
  await page.fill('textarea[name=topic]', 'Is this diff safe?');
  await addSeats(page, 'claude', 'reviewer:agent');
  await page.waitForSelector('.plan >> text=reviewer');
  const [sent] = await Promise.all([
    page.waitForRequest((it) => it.url().endsWith('/api/discussions') && it.method() === 'POST'),
    page.click('text=Start the discussion'),
  ]);
  assert.deepEqual(sent.postDataJSON().participants, ['claude', 'reviewer:agent']);
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  const seats = await page.evaluate(() => quorum.whole.spec.participants.map((it) => [it.name, it.provider, it.agent?.id]));
  assert.deepEqual(seats, [
    ['claude', 'claude', undefined],
    ['reviewer', 'alpha', 'reviewer'],
  ]);
  return page.evaluate(() => location.pathname.split('/').at(-1));
}

/** The next question goes to the same panel, which is shown what the first came to. */
async function followed(page, server, first) {
  assert.equal(await page.isVisible('form.follow'), true);
  await page.fill('textarea[name=question]', 'And what would it cost?');
  await page.click('text=Ask the same panel');
  await page.waitForURL((it) => it.pathname !== `/d/${first}`);
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  const { topic, follows, participants } = await page.evaluate(() => quorum.whole.spec);
  assert.deepEqual([topic, follows.id, participants.map((it) => it.name)], ['And what would it cost?', first, ['claude', 'reviewer']]);
  assert.match(await page.textContent('details.earlier summary'), /Everyone was shown what earlier discussions came to \(1\)/);
  await page.click('details.earlier summary');
  assert.equal(await page.getAttribute('details.earlier a', 'href'), `/d/${first}`);
  // An empty question is not sent.
  const before = page.url();
  await page.fill('textarea[name=question]', '');
  await page.click('text=Ask the same panel');
  assert.equal(page.url(), before);
}
