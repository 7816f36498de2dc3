// If tokens are set, the page asks for one, asks again after a wrong one, and never puts it into an
// address.

import { assert, scenario } from './harness.mjs';

const TOKEN = 'adas-token-0123456789';
const CONFIG = `[defaults]\nsimulate = "latency=0ms"\n[server]\ntokens = [{ name = "ada", tenant = "ada", token = "${TOKEN}" }]\n`;

await scenario(CONFIG, async (server, open) => {
  const { discussionId: id } = await server.post(
    '/api/discussions',
    { topic: 'Is it secret?', rounds: 1 },
    { authorization: `Bearer ${TOKEN}` },
  );
  assert.ok(!(await server.get(`/d/${id}`)).includes('secret'), 'the shell tells nothing');
  assert.ok(!(await server.get('/')).includes('secret'));

  const page = await open();
  const addresses = [];
  page.on('request', (request) => addresses.push(request.url()));
  await page.goto(`${server.base}/d/${id}`);
  await page.fill('dialog input', 'wrong-token-0123456789');
  await page.press('dialog input', 'Enter');
  await page.waitForSelector('dialog >> text=does not know that token');
  await page.fill('dialog input', TOKEN);
  await page.press('dialog input', 'Enter');
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion);
  await page.goto(server.base);
  await page.waitForSelector('.entry a');
  assert.equal(await page.textContent('.entry a'), 'Is it secret?');
  assert.equal(await page.locator('dialog').count(), 0, 'it is asked once');
  await page.goto(`${server.base}/d/${id}`);
  await page.click('.menu summary >> text=Export');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('.menu a >> text=Record as JSONL'),
  ]);
  assert.equal(download.suggestedFilename(), `discussion-${id}.jsonl`);
  assert.deepEqual(
    addresses.filter((it) => it.includes('token-0123')),
    [],
  );
  assert.equal(await page.evaluate(() => localStorage.getItem('quorum-token')), null);

  // Without a token, the page says what is missing, and asks again after a reload.
  const other = await open();
  await other.goto(`${server.base}/d/${id}`);
  await other.waitForSelector('dialog input');
  await other.keyboard.press('Escape');
  await other.waitForSelector('.missing h1 >> text=A token is needed');
  await other.goto(server.base);
  await other.waitForSelector('dialog input');
  await other.keyboard.press('Escape');
  await other.waitForSelector('.listing .banner >> text=A token is needed');
});
