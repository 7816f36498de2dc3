// Every view is checked by axe-core, in light and dark, on a desktop and on a phone: no violation.

import { readFileSync } from 'node:fs';
import { assert, scenario } from './harness.mjs';
import { CONFIG, live, opened, prepared, views } from './views.mjs';

const AXE = readFileSync(process.env.QUORUM_AXE, 'utf8');

const SETTINGS = [
  ['light', { width: 1280, height: 860 }],
  ['dark', { width: 390, height: 844 }],
];

await scenario(CONFIG, async (server, open) => {
  const ids = await prepared(server);
  const page = await open({ reducedMotion: 'reduce' });
  const wrong = [];
  let checked = 0;
  const check = async (view) => {
    await opened(page, server.base, view);
    // Evaluated by the driver, because the page's policy lets no other script in.
    await page.evaluate(`${AXE}; null`);
    for (const [colorScheme, viewport] of SETTINGS) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const { violations, passes } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations', 'passes'] }));
      const told = violations.flatMap(({ id, nodes }) => nodes.map((it) => `${id}: ${it.html.slice(0, 200)} ${it.failureSummary ?? ''}`));
      wrong.push(...told.map((it) => `${view[0]}, ${colorScheme}: ${it}`));
      assert.ok(passes.length > 5, `${view[0]}: only ${passes.length} rules applied`);
      checked++;
    }
  };
  for (const view of views(ids)) await check(view);
  await check(await live(ids));
  assert.deepEqual(wrong, []);
  console.log(`axe-core: ${checked} views, no violation`);
});
