// A server with few providers: without any, the page offers simulated voices; with a single one, it
// says that the panel consists of that vendor's models.

import { assert, nobody, scenario } from './harness.mjs';

const ONE_VENDOR = 'Only openai is available, so its models discuss: gpt-5.6-terra, gpt-5.6-luna, gpt-4.1.';

await scenario(
  '[defaults]\nrounds = 1\n',
  async (server, open) => {
    const page = await open();
    await simulated(page, server);
    await server.kill();
    Object.assign(server.env, { OPENAI_API_KEY: 'a-key', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' });
    await server.start();
    await oneVendor(page, server);
  },
  { flags: [], env: nobody() },
);

/** Nothing is simulated before the user has accepted the offer. */
async function simulated(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.fill('textarea[name=topic]', 'Tabs or spaces?');
  await page.waitForSelector('.plan >> text=Too few models are available');
  assert.equal(await page.isVisible('[name=offline]'), false);
  await page.click('text=Start the discussion');
  await page.waitForSelector('.wrong >> text=Too few models are available');
  assert.deepEqual(JSON.parse(await server.get('/api/discussions')), []);
  await page.click('.wrong >> text=Use simulated voices');
  await page.waitForSelector('.plan >> text=the voices are simulated');
  assert.equal(await page.isChecked('[name=offline]'), true);
  // The choice can be taken back.
  await page.uncheck('[name=offline]');
  await page.waitForSelector('.plan >> text=Too few models are available');
  await page.click('.plan >> text=Use simulated voices');
  await page.waitForSelector('.plan >> text=the voices are simulated');
  await page.click('text=Start the discussion');
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  await page.waitForSelector('.head .chip >> text=simulated');
  const [listed] = JSON.parse(await server.get('/api/discussions'));
  assert.equal(listed.simulated, true);
}

/** The line is in the plan, and on the page of the discussion. */
async function oneVendor(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  assert.equal(await page.locator('.seat').count(), 0);
  // Only what can be asked is offered; what the others lack can be read.
  assert.deepEqual(await page.locator('.pill').allInnerTexts(), ['+ openai', '+ codex']);
  await page.click('.lacking summary');
  await page.waitForSelector('.lacking li >> text=claude there is no key in ANTHROPIC_API_KEY');
  await page.fill('textarea[name=topic]', 'Tabs or spaces?');
  await page.waitForSelector(`.plan >> text=${ONE_VENDOR}`);
  await page.click('text=Start the discussion');
  await page.waitForSelector(`.head >> text=${ONE_VENDOR}`);
}
