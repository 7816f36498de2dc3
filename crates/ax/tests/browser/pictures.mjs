// Screenshots of the page for people to look at: light and dark, wide and narrow, running, awaiting
// a person, finished.

import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assert, scenario, SCREENSHOTS } from './harness.mjs';

const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 390, height: 844 };

await scenario('[defaults]\nsimulate = "latency=1500ms"\nseed = 5\n', async (server, open) => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const order = async (body) => (await server.post('/api/discussions', body)).discussionId;
  const quick = { latencyMs: 20 };
  const over = await order({
    topic: 'Should we move the billing service to event sourcing?',
    pattern: 'debate',
    rounds: 3,
    providers: ['claude', 'gemini', 'qwen', 'grok'],
    roles: { claude: 'proponent', gemini: 'opponent', qwen: 'opponent', grok: 'judge' },
    maxCost: 0.25,
    simulate: quick,
  });
  const voted = await order({
    topic: 'Which database for a real-time app?',
    pattern: 'voting',
    rounds: 3,
    votingOptions: ['Postgres', 'SQLite', 'Redis'],
    providers: ['claude', 'gemini', 'qwen', 'grok'],
    simulate: { ...quick, stubbornness: 0 },
  });
  const awaited = await order({
    topic: 'What shall we build next quarter?',
    pattern: 'roundtable',
    rounds: 2,
    participants: ['claude', 'gemini', 'ada:person'],
    simulate: quick,
  });
  const page = await open({ viewport: WIDE, reducedMotion: 'reduce' });
  const show = async (path, ready) => {
    await page.goto(server.base + path);
    await page.waitForFunction(ready);
  };
  const take = async (name) => {
    for (const [size, viewport] of [
      ['wide', WIDE],
      ['narrow', NARROW],
    ]) {
      for (const colorScheme of ['light', 'dark']) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.evaluate(() => {
          scrollTo(0, 0);
          return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        });
        await page.screenshot({ path: join(SCREENSHOTS, `${name}-${size}-${colorScheme}.png`) });
        assert.ok(
          await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
          `${name} ${size} is too wide`,
        );
      }
    }
    await page.setViewportSize(WIDE);
  };
  await show(`/d/${over}`, () => globalThis.quorum?.whole.conclusion && document.querySelector('.synthesis .said'));
  await take('over');
  await show(`/d/${voted}`, () => globalThis.quorum?.whole.conclusion && document.querySelector('.tally'));
  await take('voted');
  await show(`/d/${awaited}`, () => document.querySelector('.person'));
  await take('awaited');
  await show(`/compare?a=${over}&b=${voted}`, () => document.querySelector('table.figures'));
  await take('compare');
  const live = await order({
    topic: 'Should we move the billing service to event sourcing?',
    pattern: 'debate',
    rounds: 3,
    providers: ['claude', 'gemini', 'qwen', 'grok'],
    roles: { claude: 'proponent', gemini: 'opponent', qwen: 'opponent', grok: 'judge' },
    maxCost: 0.25,
    simulate: { latencyMs: 1500 },
  });
  await show(
    `/d/${live}`,
    () => globalThis.quorum?.whole.round === 2 && [...quorum.texts.values()].some((it) => it.text.length > 200),
  );
  await take('live');
  await show('/', () => document.querySelectorAll('.entry').length === 4);
  await page.fill('textarea[name=topic]', 'Should we rewrite it?');
  await page.waitForSelector('.plan li');
  await take('home');
  assert.ok(statSync(join(SCREENSHOTS, 'live-wide-dark.png')).size > 10000);
});
