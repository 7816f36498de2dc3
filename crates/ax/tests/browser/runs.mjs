// A run of a workflow on the page: a picture of its steps with their states, live, at every
// position of its timeline, after its end, without scripts, with the keyboard, and on a phone.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { assert, scenario, SCREENSHOTS } from './harness.mjs';

const prompt = (stepId, text, more = {}) => ({ stepId, type: 'prompt', config: { prompt: text }, ...more });

const REVIEW = {
  workflowId: 'release-review',
  version: '1.2.0',
  name: 'Review of a release',
  concurrency: 4,
  steps: [
    prompt('gather', 'Gather what changed in {{input.release}}'),
    {
      stepId: 'reviews',
      type: 'parallel',
      config: {
        steps: [
          prompt('security', 'Security of {{steps.gather.output}}'),
          prompt('performance', 'Performance of {{steps.gather.output}}'),
          prompt('wording', 'Wording of {{steps.gather.output}}'),
        ],
      },
    },
    {
      stepId: 'talk',
      type: 'discuss',
      dependencies: ['reviews'],
      config: { providers: ['claude', 'gemini'], rounds: 1, prompt: 'Release? {{steps.security.output}}' },
    },
    {
      stepId: 'each-risk',
      type: 'loop',
      dependencies: ['reviews'],
      config: { items: ['late', 'slow', 'wrong'], concurrency: 2, steps: [prompt('weigh', 'Weigh {{item}}')] },
    },
    {
      stepId: 'decide',
      type: 'conditional',
      dependencies: ['talk', 'each-risk'],
      config: {
        condition: "{{input.release}} == '2.0'",
        then: [prompt('announce', 'Announce {{steps.talk.output}}')],
        else: [prompt('postpone', 'Postpone')],
      },
    },
    { stepId: 'keep', type: 'tool', tool: 'memory_store', config: { key: 'release', value: '{{steps.announce.output}}' } },
  ],
};

const FAILING = {
  workflowId: 'failing',
  version: '1.0.0',
  name: 'A step fails',
  steps: [
    prompt('first', 'First'),
    { stepId: 'bad', type: 'loop', config: { items: '{{input.none}}', steps: [prompt('turn', '{{item}}')] } },
    prompt('late', 'Late {{steps.bad.output}}'),
  ],
};

const SIZES = [
  ['wide', { width: 1280, height: 1000 }],
  ['narrow', { width: 390, height: 844 }],
];

/** The states of the boxes in the picture, by step. */
const states = (page) =>
  page.evaluate(() =>
    Object.fromEntries([...document.querySelectorAll('.graph [data-step]')].map((it) => [it.dataset.step, it.dataset.status])),
  );

const over = (page) => page.waitForFunction(() => globalThis.quorum?.whole.conclusion && document.querySelector('.graph'));

await scenario('[defaults]\nsimulate = "latency=700ms"\nseed = 5\n', async (server, open) => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const order = async (workflow, input) => (await server.post('/api/workflows/runs', { workflow, input })).discussionId;
  const page = await open({ reducedMotion: 'reduce' });
  const id = await order(REVIEW, { release: '2.0' });
  await live(page, server, id);
  await replayed(page);
  await linked(page, server, id);
  await likeTheServer(page, server, id);
  await failed(page, server, await order(FAILING, {}));
  await withoutScripts(open, server, id);
});

async function shot(page, name) {
  for (const [size, viewport] of SIZES)
    for (const colorScheme of ['light', 'dark']) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => {
        scrollTo(0, 0);
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      });
      await page.screenshot({ path: join(SCREENSHOTS, `${name}-${size}-${colorScheme}.png`), fullPage: true });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${size} is too wide`);
    }
  await page.setViewportSize(SIZES[0][1]);
}

/** While it runs: some steps are done, some are running, some wait; a running one can be opened. */
async function live(page, server, id) {
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForSelector('.graph [data-step=talk][data-status=running]');
  const now = await states(page);
  assert.deepEqual([now.gather, now.reviews, now.security, now.decide, now.keep], ['done', 'done', 'done', 'waiting', 'waiting']);
  const href = await page.getAttribute('.graph a[data-step=talk]', 'href');
  assert.match(href, /^\/d\/[0-9a-f-]{36}$/);
  await shot(page, 'run-live');
  await over(page);
  assert.deepEqual(await states(page), {
    gather: 'done',
    reviews: 'done',
    security: 'done',
    performance: 'done',
    wording: 'done',
    talk: 'done',
    'each-risk': 'done',
    weigh: 'done',
    decide: 'done',
    announce: 'done',
    postpone: 'skipped',
    keep: 'done',
  });
  // gather → reviews → talk and each-risk → decide → keep: six lines.
  assert.equal(await page.locator('.graph .edge').count(), 6);
  assert.match(await page.textContent('.strip'), /Steps12 of 12/);
  assert.match(await page.textContent('.head .chips'), /release-review 1\.2\.0 · 6 steps/);
  await shot(page, 'run-over');
}

/** At every position of the timeline the picture shows the states of that moment. */
async function replayed(page) {
  await page.evaluate(() => {
    const range = document.querySelector('#position');
    range.value = 4;
    range.dispatchEvent(new Event('input'));
  });
  await page.waitForSelector('.graph [data-step=gather][data-status=running], .graph [data-step=gather][data-status=waiting]');
  assert.equal((await states(page)).keep, 'waiting');
  await page.keyboard.press('l');
  await page.waitForSelector('.graph [data-step=keep][data-status=done]');
}

/** With the keyboard: a step is focused and opened; its discussion links back. */
async function linked(page, server, id) {
  await page.focus('.graph a[data-step=talk]');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => globalThis.quorum?.whole.spec?.participants.length === 2);
  await page.click('.head >> text=part of another');
  await page.waitForURL(`${server.base}/d/${id}`);
  await over(page);
  await page.click('.outputs summary >> text=gather');
  await page.waitForSelector('.outputs details[open] .said');
}

/** The page's states are the server's. */
async function likeTheServer(page, server, id) {
  const { steps } = JSON.parse(await server.get(`/api/discussions/${id}/result`));
  const flat = (list) => list.flatMap((it) => [it, ...(it.inside ?? []).flatMap((below) => flat(below.steps))]);
  assert.deepEqual(await states(page), Object.fromEntries(flat(steps).map((it) => [it.stepId, it.status])));
}

/** A failed step and the skipped one after it say so, in words and not only in colour. */
async function failed(page, server, id) {
  await page.goto(`${server.base}/d/${id}`);
  await over(page);
  const { first, bad, late } = await states(page);
  assert.deepEqual([first, bad, late], ['done', 'failed', 'skipped']);
  assert.match(await page.textContent('.graph [data-step=late]'), /skipped/);
  await page.click('.outputs summary >> text=bad');
  await page.waitForSelector('.outputs >> text=items must be a list');
  await shot(page, 'run-failed');
}

/** Without scripts the same picture and a table are there, and the discussion can be opened. */
async function withoutScripts(open, server, id) {
  const page = await open({ javaScriptEnabled: false });
  await page.goto(`${server.base}/d/${id}`);
  assert.equal(await page.locator('svg.steps rect').count(), 12);
  assert.equal(await page.locator('svg.steps .edge').count(), 6);
  await page.setViewportSize(SIZES[0][1]);
  await page.screenshot({ path: join(SCREENSHOTS, 'run-unscripted-wide-light.png'), fullPage: true });
  await page.setViewportSize(SIZES[1][1]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: join(SCREENSHOTS, 'run-unscripted-narrow-dark.png'), fullPage: true });
  await page.setViewportSize(SIZES[0][1]);
  await page.locator('svg.steps a', { hasText: 'talk (discuss)' }).click();
  await page.waitForSelector('h2 >> text=Round 1');
}
