// Screenshots of every view for people to look at: light and dark, on a desktop and on a phone.
// `cargo xtask screenshots` takes them without the tests.

import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assert, scenario, SCREENSHOTS } from './harness.mjs';
import { CONFIG, live, opened, prepared, views } from './views.mjs';

const SIZES = [
  ['wide', { width: 1280, height: 860 }],
  ['narrow', { width: 390, height: 844 }],
];

await scenario(CONFIG, async (server, open) => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const ids = await prepared(server);
  const page = await open({ viewport: SIZES[0][1], reducedMotion: 'reduce' });
  const take = async (name) => {
    for (const [size, viewport] of SIZES) {
      for (const colorScheme of ['light', 'dark']) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        await page.screenshot({ path: join(SCREENSHOTS, `${name}-${size}-${colorScheme}.png`) });
        assert.ok(
          await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
          `${name} ${size} is too wide`,
        );
      }
    }
    await page.setViewportSize(SIZES[0][1]);
  };
  const all = views(ids);
  const look = async (view) => {
    await opened(page, server.base, view);
    await take(view[0]);
  };
  for (const view of all) await look(view);
  await look(await live(ids));
  assert.ok(statSync(join(SCREENSHOTS, 'live-wide-dark.png')).size > 10000);
  console.log(`${(all.length + 1) * 4} pictures`);
});
