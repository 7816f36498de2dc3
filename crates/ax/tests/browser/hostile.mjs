// A hostile server: every text of a record and of every response would run if the page made markup
// of text. Names are checked where they come in; here nothing is checked, and still nothing runs or
// breaks.

import { assert, EVENTS, scenario, strange, tell } from './harness.mjs';

const PAYLOADS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  '<svg onload=alert(3)>',
  '[x](javascript:alert(4))',
  '![x](//evil.test/p.png)',
  "'-alert(5)-'",
  '</style><link rel=stylesheet href=//evil.test/a.css>',
  '__proto__',
  'constructor',
  '\u202e<iframe src=javascript:alert(6)>',
];

/** Fields whose values decide what the page does, so they are kept. */
const KEPT = new Set([
  ...['type', 'kind', 'to', 'command', 'shape', 'discussionId', 'sessionId', 'startedAt', 'status'],
  ...['pattern', 'method', 'form', 'reason_at'],
]);

/** The same value with a payload for every text; names stay consistent. */
function hostile(value, names, key = '') {
  if (Array.isArray(value)) return value.map((it) => hostile(it, names, key));
  if (value && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([key, it]) => [names.get(key) ?? key, hostile(it, names, key)]),
    );
  if (typeof value !== 'string') return value;
  if (names.has(value)) return names.get(value);
  if (key === 'step' || key === 'answers') return value.split('/').map((it) => names.get(it) ?? it).join('/');
  return KEPT.has(key) ? value : PAYLOADS[next++ % PAYLOADS.length];
}
let next = 0;

const ORDERS = [
  {
    pattern: 'debate',
    rounds: 3,
    providers: ['claude', 'gemini', 'qwen', 'grok'],
    judge: 'grok',
    judgeFailure: 'swap',
    simulate: { latencyMs: 0, dead: ['grok'] },
  },
  { pattern: 'debate', rounds: 2, providers: ['claude', 'gemini', 'qwen', 'grok'] },
  {
    pattern: 'voting',
    rounds: 4,
    votingOptions: ['tabs', 'spaces', 'neither'],
    providers: ['claude', 'gemini', 'qwen'],
    simulate: { latencyMs: 0, stubbornness: 0 },
  },
  { pattern: 'dialogue', rounds: 3, providers: ['claude', 'gemini'], consensus: 'unanimous' },
  { pattern: 'voting', rounds: 1, votingOptions: ['sea', 'hills'], participants: ['claude', 'qwen', 'ada:person'] },
  { pattern: 'synthesis', rounds: 1, recursive: true, providers: ['claude', 'gemini', 'glm'] },
];

const CONFIG = '[defaults]\nsimulate = "latency=0ms"\nseed = 3\n[presets.quick]\nrounds = 1\n';

await scenario(CONFIG, async (server, open) => {
  const page = await open();
  const check = async (what) => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    assert.deepEqual(await page.evaluate(strange), [], what);
    assert.deepEqual(await page.evaluate(() => reports), [], what);
  };
  await server.post('/api/sessions', { name: 'Office' });
  const ids = [];
  for (const order of ORDERS) ids.push(await recorded(page, server, order, check));
  await answered(page, server, ids, check);
});

/** One discussion, with payloads for every text and every name in it. */
async function recorded(page, server, order, check) {
  const { discussionId: id } = await server.post('/api/discussions', { topic: 'Tabs or spaces?', ...order });
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForFunction(() => quorum.whole.conclusion || quorum.whole.awaiting.length);
  const facts = await page.evaluate(() => quorum.facts);
  const who = facts[0].spec.participants.map((it) => it.name);
  const told = hostile(facts, new Map(who.map((it, at) => [it, PAYLOADS[at]])));
  await tell(page, told);
  const names = new Map(who.map((it, at) => [it, PAYLOADS[at]]));
  await page.route('**/result', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: hostile(await response.json(), names) });
  });
  await page.reload();
  await page.waitForFunction(
    (last) => globalThis.quorum?.whole.seq === last && document.querySelector('.columns'),
    told.length,
  );
  await check(order.pattern);
  // Every past fact as well, and everything that can be opened.
  await page.evaluate(async () => {
    const track = document.getElementById('position');
    for (let at = 1; at < track.max; at++) {
      track.value = at;
      track.dispatchEvent(new Event('input'));
      await new Promise(requestAnimationFrame);
    }
  });
  await page.keyboard.press('l');
  await page.evaluate(() => document.querySelectorAll('details').forEach((it) => (it.open = true)));
  await check(`${order.pattern}, replayed`);
  await page.unroute(EVENTS);
  await page.unroute('**/result');
  return id;
}

/** The other pages, with payloads in every response and in every error. */
async function answered(page, server, ids, check) {
  await page.route('**/api/**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: hostile(await response.json(), new Map()) });
  });
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.waitForFunction((count) => document.querySelectorAll('.entry').length >= count, ids.length);
  await page.fill('textarea[name=topic]', 'x');
  await page.waitForSelector('.plan:not([hidden])');
  await page.click('text=Start the discussion');
  await page.waitForSelector('.wrong:not([hidden])');
  await check('the list and the form');
  await page.goto(`${server.base}/compare?a=${ids[0]}&b=${ids[2]}`);
  await page.waitForSelector('table.figures');
  await check('side by side');
  await page.goto(`${server.base}/compare?a=00000000-0000-4000-8000-000000000000`);
  await page.waitForSelector('.notice.error');
  await check('a refusal');
}
