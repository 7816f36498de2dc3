// The page's fold against the server's: for every pattern, with retries, failed participants and
// changes of mind, both give the same state.

import { assert, record, scenario } from './harness.mjs';

const ORDERS = [
  {
    pattern: 'synthesis',
    rounds: 2,
    providers: ['claude', 'gemini', 'qwen', 'glm'],
    simulate: { latencyMs: 0, dead: ['glm'] },
  },
  { pattern: 'round-robin', rounds: 2 },
  { pattern: 'critique', rounds: 2 },
  { pattern: 'debate', rounds: 3, providers: ['claude', 'gemini', 'qwen', 'grok'] },
  {
    pattern: 'voting',
    rounds: 3,
    votingOptions: ['tabs', 'spaces', 'neither'],
    providers: ['claude', 'gemini', 'qwen', 'grok'],
    simulate: { latencyMs: 0, stubbornness: 0 },
  },
  {
    pattern: 'voting',
    rounds: 4,
    votingOptions: ['tabs', 'spaces'],
    providers: ['claude', 'gemini', 'qwen'],
    simulate: { latencyMs: 0, stubbornness: 0.2 },
  },
  { pattern: 'dialogue', rounds: 4, providers: ['claude', 'gemini'], consensus: 'unanimous' },
  { pattern: 'roundtable', rounds: 2, consensus: 'majority' },
];

await scenario('[defaults]\nsimulate = "latency=0ms"\n', async (server, open) => {
  const page = await open();
  await page.goto(server.base);
  let flips = 0;
  for (const [seed, order] of ORDERS.entries()) {
    const { discussionId: id } = await server.post('/api/discussions', { topic: 'Tabs or spaces?', seed, ...order });
    const facts = await record(server, id);
    const result = JSON.parse(await server.get(`/api/discussions/${id}/result`));
    const folded = await page.evaluate(async (facts) => {
      const { agreements, flips, fold } = await import('/assets/fold.js');
      const state = fold(facts);
      return {
        status: state.lifecycle,
        topic: state.spec.topic,
        synthesis: state.decision?.synthesis ?? '',
        turns: state.turns.length,
        tokens: state.usage.prompt + state.usage.completion,
        calls: state.calls,
        retries: state.retries,
        agreements: agreements(state).map((it) => [it.round, it.share]),
        flips: flips(state).map((it) => [it.participant, it.round, it.from, it.to]),
        absent: [...state.seats.values()]
          .filter((it) => it.standing === 'absent' || it.standing === 'failed')
          .map((it) => it.name),
        underWay: state.underWay.size,
      };
    }, facts);
    const { costSummary } = result.metadata;
    assert.deepEqual(
      { ...folded, agreements: folded.agreements.map(([round]) => round) },
      {
        status: result.status,
        topic: result.topic,
        synthesis: result.synthesis,
        turns: facts.filter((it) => it.type === 'turn_completed').length,
        tokens: costSummary.totalTokens,
        calls: costSummary.totalCalls,
        retries: result.integrity.retries,
        agreements: (result.agreementByRound ?? []).map((it) => it.round),
        flips: (result.flips ?? []).map((it) => [it.participant, it.round, it.from, it.to]),
        absent: result.failedProviders,
        underWay: 0,
      },
      order.pattern,
    );
    for (const [at, it] of (result.agreementByRound ?? []).entries())
      assert.ok(Math.abs(it.agreement - folded.agreements[at][1]) < 0.006, `${order.pattern} ${it.round}`);
    flips += folded.flips.length;
  }
  assert.ok(flips > 0, 'somebody changed position');
  await rounding(page);
  await markdown(page);
  await long(page, server);
});

/** A judge's 6.25 was 6.2 in the server's words and 6.3 beside them: ties go to the even digit. */
async function rounding(page) {
  const made = await page.evaluate(async () => {
    const { decimals } = await import('/assets/figures.js');
    return [6.25, 6.35, 6.75, 6.5, 10].map((it) => decimals(it, 1)).concat([0.125, 0.375, 0.72].map((it) => decimals(it, 2)));
  });
  assert.deepEqual(made, ['6.2', '6.3', '6.8', '6.5', '10.0', '0.12', '0.38', '0.72']);
}

/** Markdown is rendered as elements. */
async function markdown(page) {
  const CASES = [
    ['# Title\ntext', '<h4>Title</h4><p>text</p>'],
    ['a *b* **c** `d<e` ~~f~~', '<p>a <em>b</em> <strong>c</strong> <code>d&lt;e</code> <s>f</s></p>'],
    ['snake_case_name stays', '<p>snake_case_name stays</p>'],
    ['- a\n- b\n  - c\n', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>'],
    ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['> said\n> twice', '<blockquote><p>said\ntwice</p></blockquote>'],
    ['```js\n<b>\n```\nafter', '<div class="code"><pre tabindex="0"><code>&lt;b&gt;</code></pre><button class="link copy" type="button">Copy</button></div><p>after</p>'],
    ['```\nnever closed', '<div class="code"><pre tabindex="0"><code>never closed</code></pre><button class="link copy" type="button">Copy</button></div>'],
    [
      '| a | b |\n|---|:-:|\n| 1 | 2 |',
      '<div class="wide"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>',
    ],
    [
      '[x](https://a.test/p?q=1)',
      '<p><a href="https://a.test/p?q=1" rel="noopener noreferrer nofollow" target="_blank">x</a></p>',
    ],
    ['[x](javascript:alert(1))', '<p><span>x</span></p>'],
    ['[x](//evil.test)', '<p><span>x</span></p>'],
    [
      '![alt](https://evil.test/p.png)',
      '<p><a href="https://evil.test/p.png" rel="noopener noreferrer nofollow" target="_blank">🖼 alt</a></p>',
    ],
    ['![alt](data:image/png;base64,AA)', '<p><span>alt</span></p>'],
    [
      'see https://a.test/x.',
      '<p>see <a href="https://a.test/x" rel="noopener noreferrer nofollow" target="_blank">https://a.test/x</a>.</p>',
    ],
    ['<b onclick=x>bold</b>', '<p>&lt;b onclick=x&gt;bold&lt;/b&gt;</p>'],
    ['\\*not\\* emphasis', '<p>*not* emphasis</p>'],
    ['a\n\n---\n\nb', '<p>a</p><hr><p>b</p>'],
    ['', ''],
  ];
  const made = await page.evaluate(
    async (inputs) => {
      const { markdown } = await import('/assets/markdown.js');
      return inputs.map((it) =>
        markdown(it)
          .map((node) => node.outerHTML)
          .join(''),
      );
    },
    CASES.map(([input]) => input),
  );
  assert.deepEqual(
    made,
    CASES.map(([, expected]) => expected),
  );
  // No text of a model keeps the page busy.
  const [slowest, what] = await page.evaluate(async () => {
    const { markdown } = await import('/assets/markdown.js');
    const pieces = [
      '**a ',
      '_a ',
      '[',
      '[a](',
      '`',
      '> ',
      '- ',
      '  '.repeat(50) + '- a\n',
      '|a',
      '|a|\n|-|\n',
      '*',
      '~~a',
      '![',
      'http://',
      '\\',
      '1. ',
      '#',
      '```\n',
    ];
    let most = [0, ''];
    for (const piece of pieces) {
      const began = performance.now();
      markdown(piece.repeat(Math.ceil(100000 / piece.length)));
      const took = performance.now() - began;
      if (took > most[0]) most = [took, piece];
    }
    return most;
  });
  console.log(`the slowest 100 kB of hostile Markdown took ${slowest.toFixed(0)} ms: ${JSON.stringify(what)}`);
  assert.ok(slowest < 2000, `${slowest} ms for ${what}`);
}

/** A record of 10,000 facts folds fast enough to scrub, and only visible parts are rendered. */
async function long(page, server) {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'How long?',
    pattern: 'round-robin',
    rounds: 1,
  });
  const facts = await record(server, id);
  const took = await page.evaluate(async (facts) => {
    const [{ fold }, { talk }] = await Promise.all([import('/assets/fold.js'), import('/assets/talk.js')]);
    const [opened, turns] = [facts[0], facts.filter((it) => ['call_placed', 'turn_completed'].includes(it.type))];
    const many = [opened];
    while (many.length < 10000) many.push({ ...turns[many.length % turns.length], seq: many.length + 1 });
    const began = performance.now();
    const state = fold(many);
    const folded = performance.now() - began;
    const said = talk(() => {});
    document.body.append(said.root);
    said.update(state);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)));
    const made = [...document.querySelectorAll('.turn .said')].filter((it) => it.textContent.length > 1).length;
    return { folded, turns: state.turns.length, made };
  }, facts);
  console.log(`10,000 facts folded in ${took.folded.toFixed(0)} ms; of ${took.turns} turns ${took.made} are made`);
  assert.ok(took.folded < 200 && took.made < 100, JSON.stringify(took));
}
