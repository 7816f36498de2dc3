// Ten thousand events of twelve participants over hundreds of rounds: the page shows them, scrubs
// through them and scrolls.

import { assert, record, scenario, share, tell } from './harness.mjs';

const EVENTS = 10000;
const PANEL = ['claude', 'gemini', 'qwen', 'grok', 'glm', 'mistral'];

await scenario('[defaults]\nsimulate = "latency=0ms"\nseed = 5\n', async (server, open) => {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'How long?',
    pattern: 'voting',
    rounds: 10,
    votingOptions: ['tabs', 'spaces', 'neither'],
    providers: PANEL,
    simulate: { latencyMs: 0, stubbornness: 0 },
  });
  const facts = stretched(await record(server, id));
  assert.ok(facts.length >= EVENTS);
  const page = await open();
  await tell(page, facts);
  const began = Date.now();
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForFunction(() => globalThis.quorum?.whole.conclusion && document.querySelector('.turn'));
  const loaded = Date.now() - began;
  assert.equal(await page.locator('.column').count(), 12);

  const drag = await page.evaluate(dragged, 20);
  const scroll = await page.evaluate(scrolled, 40);
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  const usual = (list) => `p50 ${share(list, 0.5).toFixed(0)} ms, most ${Math.max(...list).toFixed(0)} ms`;
  console.log(
    `${facts.length} events, ${nodes} elements: shown in ${loaded} ms; a step dragged ${usual(drag)}; a page scrolled ${usual(scroll)}`,
  );
  assert.ok(nodes < 10000, `${nodes} elements`);
  assert.ok(share(drag, 0.5) < 250 && share(scroll, 0.5) < 250, JSON.stringify({ drag, scroll }));

  // The visible part is rendered, and the final state equals a fold from the start.
  await page.keyboard.press('l');
  await page.evaluate(() => document.querySelector('.turn').scrollIntoView());
  await page.waitForSelector('.turn .said p', { state: 'visible' });
  assert.equal(await page.locator('.turn').count(), facts.filter((it) => it.type === 'turn_completed').length);
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction((last) => quorum.state().seq === last, facts.length - 1);
});

/** The same discussion repeated, alternating between its participants and six more. */
function stretched(facts) {
  const [first, last] = [
    facts.findIndex((it) => it.type === 'round_opened'),
    facts.findLastIndex((it) => it.type === 'round_closed'),
  ];
  const opened = structuredClone(facts[0]);
  opened.spec.participants.push(...opened.spec.participants.map((it) => ({ ...it, name: `${it.name}-2` })));
  const made = [opened, ...facts.slice(1, first)];
  for (let lap = 0; made.length < EVENTS; lap++)
    made.push(...facts.slice(first, last + 1).map((it) => later(it, lap)));
  made.push(...facts.slice(last + 1));
  return made.map((it, at) => ({ ...it, seq: at + 1 }));
}

function later(fact, lap) {
  const step = (it) => it.replace(/^\d+/, (round) => Number(round) + lap * 10).replace(/\/([a-z]+)(?=\/|$)/g, second);
  const second = (whole, who) => (lap % 2 && PANEL.includes(who) ? `/${who}-2` : whole);
  const change = (it) => {
    const made = { ...it };
    if (made.round) made.round += lap * 10;
    if (made.step) made.step = step(made.step);
    if (made.participant && lap % 2) made.participant = `${made.participant}-2`;
    if (made.turn) made.turn = change(made.turn);
    return made;
  };
  return change(fact);
}

/** Drags back and forth, and returns how long each step took to reach the screen. */
async function dragged(steps) {
  const track = document.getElementById('position');
  const took = [];
  const way = Array.from({ length: steps }, (_, at) => at + 1);
  for (const at of [...way.toReversed(), ...way]) {
    const began = performance.now();
    track.value = Math.floor((track.max * at) / (steps + 1));
    track.dispatchEvent(new Event('input'));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    took.push(performance.now() - began);
  }
  return took;
}

async function scrolled(steps) {
  const took = [];
  for (let at = 0; at < steps; at++) {
    const began = performance.now();
    scrollTo(0, (document.documentElement.scrollHeight * at) / steps);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    took.push(performance.now() - began);
  }
  return took;
}
