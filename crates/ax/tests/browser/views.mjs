// Every view of the page: what it needs, where it is, and when it is ready. Screenshots are taken
// and accessibility is checked of all of them.

import { cpSync } from 'node:fs';
import { join } from 'node:path';

export const CONFIG = `[defaults]
simulate = "latency=1500ms"
seed = 5
[presets.quick]
rounds = 1
`;

const QUICK = { latencyMs: 20 };
const FOUR = ['claude', 'gemini', 'qwen', 'grok'];

const DEBATE = {
  topic: 'Should we move the billing service to event sourcing?',
  pattern: 'debate',
  rounds: 3,
  providers: FOUR,
  roles: { claude: 'proponent', gemini: 'opponent', qwen: 'opponent', grok: 'judge' },
  maxCost: 0.25,
};

const WORKFLOW = {
  workflowId: 'release-notes',
  version: '1.0.0',
  name: 'Release notes',
  steps: [
    { stepId: 'gather', type: 'prompt', config: { prompt: 'Collect what changed in {{input}}' } },
    { stepId: 'talk', type: 'discuss', config: { prompt: 'What matters most in {{steps.gather.output}}?', providers: ['claude', 'gemini'], rounds: 1 } },
  ],
};

/** Starts the discussions that the views show. */
export async function prepared(server) {
  const examples = new URL('../../../../examples/agents', import.meta.url);
  cpSync(examples, join(process.env.QUORUM_FOLDER, 'agents'), { recursive: true });
  const order = async (body) => (await server.post('/api/discussions', body)).discussionId;
  await server.post('/api/sessions', { name: 'Office' });
  const ids = {
    over: await order({ ...DEBATE, simulate: QUICK }),
    voted: await order({
      topic: 'Which database for a real-time app?',
      pattern: 'voting',
      rounds: 3,
      votingOptions: ['Postgres', 'SQLite', 'Redis'],
      providers: FOUR,
      simulate: { ...QUICK, stubbornness: 0 },
    }),
    awaited: await order({
      topic: 'What shall we build next quarter?',
      pattern: 'roundtable',
      rounds: 2,
      participants: ['claude', 'gemini', 'ada:person'],
      simulate: QUICK,
    }),
    short: await order({
      topic: 'Tabs or spaces?',
      providers: ['claude', 'gemini', 'grok'],
      rounds: 1,
      simulate: { ...QUICK, dead: ['grok'] },
    }),
    ruled: await order({
      topic: 'Who judges?',
      pattern: 'debate',
      rounds: 2,
      providers: FOUR,
      judge: 'grok',
      judgeFailure: 'ask',
      simulate: { latencyMs: 0, dead: ['grok'] },
    }),
    run: (await server.post('/api/workflows/runs', { workflow: WORKFLOW, input: 'version 2' })).discussionId,
  };
  await server.post(`/api/discussions/${ids.voted}/title`, { title: 'Database, first vote' });
  return { ...ids, order };
}

const OVER = () => globalThis.quorum?.whole.conclusion && document.querySelector('.synthesis .said');

/** All views; `then` does something on the page before it is looked at. */
export const views = (ids) => [
  ['over', `/d/${ids.over}`, OVER],
  ['turns', `/d/${ids.over}`, OVER, (page) => page.locator('.talk').scrollIntoViewIfNeeded()],
  ['again', `/d/${ids.over}`, OVER, async (page) => {
    await page.click('button.again');
    await page.waitForSelector('dialog .plan .sentence');
  }],
  ['fork', `/d/${ids.over}`, OVER, async (page) => {
    await page.click('.turn >> nth=6 >> text=Fork from here');
    await page.fill('dialog input[name=rounds]', '2');
    await page.waitForSelector('dialog .saved');
  }],
  ['more', `/d/${ids.over}`, OVER, (page) => page.click('.menu summary >> text=More')],
  ['past', `/d/${ids.over}`, OVER, (page) => page.keyboard.press('ArrowLeft')],
  ['voted', `/d/${ids.voted}`, () => globalThis.quorum?.whole.conclusion && document.querySelector('.tally')],
  ['awaited', `/d/${ids.awaited}`, () => document.querySelector('.person')],
  ['short', `/d/${ids.short}`, OVER],
  ['ruled', `/d/${ids.ruled}`, () => document.querySelector('.person')],
  ['run', `/d/${ids.run}`, () => globalThis.quorum?.whole.conclusion && document.querySelector('.graph')],
  ['missing', '/d/01890000-0000-7000-8000-000000000001', () => document.querySelector('.missing')],
  ['compare', `/compare?a=${ids.over}&b=${ids.voted}`, () => document.querySelector('table.figures')],
  ['calibration', '/calibration', () => document.querySelector('main h1')],
  ['docs', '/docs', () => document.querySelector('details.operation')],
  ['docs-open', '/docs', () => document.querySelector('details.operation'), (page) => page.click('#operation-create summary')],
  ['home', '/', () => document.querySelectorAll('.entry').length >= 5 && document.querySelector('.pill'), async (page) => {
    await page.fill('textarea[name=topic]', 'Should we rewrite it?');
    await page.waitForSelector('.plan .sentence');
  }],
  ['patterns', '/', () => document.querySelector('.pill'), (page) => page.click('.patterns summary')],
  ['panel', '/', () => document.querySelector('.pill'), async (page) => {
    await page.fill('textarea[name=topic]', 'Should we rewrite it?');
    for (const it of ['claude', 'claude', 'openai', 'sceptic:agent']) await page.click(`.pill[value="${it}"]`);
    await page.selectOption('.seat >> nth=1 >> select', { index: 2 });
    await page.click('.more summary');
    await page.waitForSelector('.plan .sentence');
  }],
  ['session', '/', () => document.querySelectorAll('.entry').length >= 5, async (page) => {
    await page.selectOption('.listing select', { label: 'Office' });
    await page.waitForSelector('.history >> text=Nothing');
    await page.click('.listing header .menu summary');
  }],
  ['keys', '/', () => document.querySelector('.pill'), (page) => page.click('button[aria-label=Keys]')],
];

/** The view of a discussion that runs: a new one each time. */
export const live = async ({ order }) => [
  'live',
  `/d/${await order({ ...DEBATE, simulate: { latencyMs: 1500 } })}`,
  () => globalThis.quorum?.whole.round === 2 && [...quorum.texts.values()].some((it) => it.text.length > 200),
];

/** Opens a view. */
export async function opened(page, base, [, path, ready, then]) {
  await page.goto(base + path);
  await page.waitForFunction(ready);
  await then?.(page);
}
