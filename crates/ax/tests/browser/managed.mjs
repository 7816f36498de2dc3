// What a user does with discussions that are there: copies an answer and a piece of code, asks
// again and forks with changes, renames, deletes, and sorts into sessions. Nothing is asked or
// removed by one click.

import { assert, record, scenario, tell, EVENTS } from './harness.mjs';

const OVER = () => globalThis.quorum?.whole.conclusion && document.querySelector('.synthesis .said');

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

await scenario('[defaults]\nsimulate = "latency=0ms"\nseed = 5\n', async (server, open) => {
  const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'Should we rewrite it?',
    pattern: 'debate',
    rounds: 3,
    providers: ['claude', 'gemini', 'qwen', 'grok'],
    judge: 'grok',
  });
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForFunction(OVER);
  await copied(page, server, id);
  await askedAgain(page, server, id);
  await forked(page, server, id);
  await renamed(page, server, id);
  await sessions(page, server);
  await deleted(page, server, id);
  await turn(page, server);
  await fellShort(page, server);
  await abandoned(page, server);
});

/** The answer, a turn and code are copied as they were written; code is coloured. */
async function copied(page, server, id) {
  const { synthesis } = JSON.parse(await server.get(`/api/discussions/${id}/result`));
  await page.click('.synthesis .copy');
  await page.waitForSelector('.synthesis .copy >> text=Copied');
  assert.equal(await clipboard(page), synthesis);
  const facts = await record(server, id);
  const at = facts.findIndex((it) => it.type === 'turn_completed' && !it.turn.form);
  const code = 'fn main() {\n    // Says "hi"\n    let count = 42;\n    print("a \\" b");\n}';
  const text = `Before\n\n\`\`\`rust\n${code}\n\`\`\`\n\n\`\`\`\nlet it = 1;\n\`\`\``;
  facts[at] = { ...facts[at], turn: { ...facts[at].turn, text } };
  await tell(page, facts);
  await page.reload();
  await page.waitForSelector('.turn .code');
  const block = page.locator('.turn .code').first();
  const spans = await block.locator('span').evaluateAll((all) => all.map((it) => [it.className, it.textContent]));
  assert.deepEqual(spans, [
    ['code-word', 'fn'],
    ['code-call', 'main'],
    ['code-comment', '// Says "hi"'],
    ['code-word', 'let'],
    ['code-number', '42'],
    ['code-call', 'print'],
    ['code-string', '"a \\" b"'],
  ]);
  assert.equal(await page.locator('.turn .code >> nth=1 >> span').count(), 0, 'code of no language stays plain');
  await block.hover();
  await block.locator('.copy').click();
  assert.equal(await clipboard(page), code);
  await page.locator('.turn:has(.code) header .copy').click();
  assert.equal(await clipboard(page), text);
  await page.unroute(EVENTS);
}

/** `Again` shows what changes and what it costs before anything is asked. */
async function askedAgain(page, server, id) {
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForFunction(OVER);
  await page.click('button.again');
  await page.waitForSelector('dialog .differences >> text=Nothing yet.');
  await page.waitForSelector('dialog .plan .sentence >> text=claude');
  await page.keyboard.press('Escape');
  assert.equal(JSON.parse(await server.get('/api/discussions')).length, 1, 'a look costs nothing');
  await page.click('button.again');
  await page.waitForSelector('dialog .plan .sentence');
  await page.fill('dialog input[name=rounds]', '2');
  await page.click('dialog .seat:has-text("qwen") button');
  await page.waitForSelector('dialog .differences li >> text=Rounds: 3 → 2');
  await page.waitForSelector('dialog .differences li >> text=Leave: qwen');
  await page.waitForSelector('dialog .plan .sentence >> text=for 2 rounds');
  const [sent] = await Promise.all([
    page.waitForRequest((it) => it.url().endsWith('/again')),
    page.click('dialog .primary'),
  ]);
  assert.deepEqual(sent.postDataJSON(), { rounds: 2, participants: ['claude', 'gemini', 'grok'] });
  await page.waitForURL((it) => it.pathname !== `/d/${id}`);
  await page.waitForFunction(OVER);
  const spec = await page.evaluate(() => quorum.whole.spec);
  assert.deepEqual([spec.rounds, spec.participants.map((it) => it.name)], [2, ['claude', 'gemini', 'grok']]);
}

/** A fork changes the judge, the pattern, the rounds and the members, and says what it saves. */
async function forked(page, server, id) {
  const dialog = async () => {
    await page.goto(`${server.base}/d/${id}`);
    await page.waitForFunction(OVER);
    await page.click('.turn >> nth=3 >> text=Fork from here');
    await page.waitForSelector('dialog .plan');
  };
  // Unchanged, there is nothing to ask.
  await dialog();
  await page.waitForSelector('dialog .plan >> text=nothing is changed');
  assert.equal(await page.isDisabled('dialog .primary'), true);
  // Another judge.
  await page.selectOption('dialog [name=option-judge]', 'claude');
  await page.waitForSelector('dialog .differences li >> text=judge: claude');
  await page.waitForSelector('dialog .plan .sentence');
  const judged = await started(page, id);
  assert.equal(judged.spec.participants.find((it) => it.role === 'judge').name, 'claude');
  // Fewer rounds: the answers up to the step are kept.
  await dialog();
  await page.fill('dialog input[name=rounds]', '2');
  await page.waitForSelector('dialog .saved >> text=Saved:');
  assert.match(await page.textContent('dialog .saved'), /^Saved: \d+ answers?, [\d,]+ tokens/);
  const shorter = await started(page, id);
  assert.equal(shorter.spec.rounds, 2);
  assert.ok(shorter.reused > 0, 'answers are taken over');
  // A member leaves, and another joins.
  await dialog();
  await page.click('dialog .seat:has-text("qwen") button');
  await page.click('dialog .pill[value=glm]');
  await page.waitForSelector('dialog .differences li >> text=Leave: qwen');
  await page.waitForSelector('dialog .differences li >> text=Join: glm');
  await page.waitForSelector('dialog .plan .sentence >> text=glm');
  const joined = await started(page, id);
  assert.deepEqual(joined.spec.participants.map((it) => it.name).sort(), ['claude', 'gemini', 'glm', 'grok']);
  // Another pattern.
  await dialog();
  await page.click('dialog .patterns summary');
  await page.click('dialog .pattern:has(input[value=synthesis])');
  await page.waitForSelector('dialog .differences li >> text=How they talk: debate → synthesis');
  await page.waitForSelector('dialog .plan .sentence');
  assert.equal((await started(page, id)).spec.pattern, 'synthesis');
}

/** Sends the dialog, and returns what was begun. */
async function started(page, id) {
  await page.waitForSelector('dialog .primary:enabled');
  await page.keyboard.press('Control+Enter');
  await page.waitForURL((it) => it.pathname !== `/d/${id}`);
  await page.waitForFunction(OVER);
  await page.waitForSelector('.head .chip >> text=forked');
  return page.evaluate(() => ({ spec: quorum.whole.spec, reused: quorum.whole.turns.filter((it) => it.reused).length }));
}

/** A name is shown wherever the question was the title, and can be taken back. */
async function renamed(page, server, id) {
  await page.goto(server.base);
  const entry = page.locator(`.entry:has(a[href="/d/${id}"])`);
  const rename = async (name) => {
    await entry.locator('.menu summary').click();
    await entry.locator('text=Rename…').click();
    await page.fill('dialog input', name);
    await page.keyboard.press('Control+Enter');
  };
  await rename('The old system');
  await entry.locator('a >> text=The old system').waitFor();
  assert.equal(await entry.locator('a').getAttribute('title'), 'Should we rewrite it?');
  // On its own page, with the question beneath, and beside another.
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForSelector('.head h1 >> text=The old system');
  assert.deepEqual([await page.title(), await page.textContent('.head .asked')], ['The old system · Quorum', 'Should we rewrite it?']);
  await page.goto(`${server.base}/compare?a=${id}`);
  await page.waitForSelector('.side h2 >> text=The old system');
  await page.waitForSelector('.side >> text=Should we rewrite it?');
  assert.match(await page.locator('.sides select >> nth=0 >> option:checked').textContent(), /^The old system — debate, /);
  // Renamed on its own page, it has the new name at once.
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForSelector('.head h1 >> text=The old system');
  await page.click('.menu summary >> text=More');
  await page.click('button.rename');
  await page.fill('dialog input', 'The older system');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.head h1 >> text=The older system');
  await page.goto(server.base);
  await entry.locator('a >> text=The older system').waitFor();
  await rename('');
  await entry.locator('a >> text=Should we rewrite it?').waitFor();
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForFunction(OVER);
  assert.deepEqual([await page.textContent('.head h1'), await page.isVisible('.head .asked')], ['Should we rewrite it?', false]);
}

/** A session is made beside the list, the next discussion is in it, and it is renamed and deleted. */
async function sessions(page, server) {
  await page.goto(server.base);
  await page.waitForSelector('.pill');
  await page.selectOption('.listing select', { label: 'New session…' });
  await page.fill('dialog input', 'Billing');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.listing select').selectedOptions[0].textContent === 'Billing');
  await page.waitForSelector('.history >> text=Nothing');
  const named = async () => JSON.parse(await server.get('/api/sessions')).map((it) => it.name);
  assert.deepEqual(await named(), ['Billing']);
  const inForm = () => page.$eval('.order select[name=session]', (it) => it.selectedOptions[0].textContent);
  assert.equal(await inForm(), 'Billing');
  const menu = async (item) => {
    await page.click('.listing header .menu summary');
    await page.click(`.listing header .menu >> text=${item}`);
  };
  await menu('Rename the session…');
  assert.equal(await page.inputValue('dialog input'), 'Billing');
  await page.fill('dialog input', 'Invoices');
  await page.keyboard.press('Control+Enter');
  await page.waitForFunction(() => document.querySelector('.listing select').selectedOptions[0].textContent === 'Invoices');
  assert.deepEqual([await named(), await inForm()], [['Invoices'], 'Invoices']);
  // One with a discussion is kept, and the page says why.
  await page.fill('textarea[name=topic]', 'How many invoices?');
  await page.click('text=Start the discussion');
  await page.waitForFunction(OVER);
  const inside = new URL(page.url()).pathname.split('/').at(-1);
  await page.goto(server.base);
  await page.selectOption('.listing select', { label: 'Invoices' });
  await page.waitForFunction(() => document.querySelectorAll('.entry').length === 1);
  await menu('Delete the session…');
  await page.click('dialog .primary');
  await page.waitForSelector('.notice >> text=has 1 discussion');
  assert.deepEqual(await named(), ['Invoices']);
  await fetch(`${server.base}/api/discussions/${inside}`, { method: 'DELETE' });
  await menu('Delete the session…');
  await page.click('dialog .primary');
  await page.waitForFunction(() => document.querySelector('.listing select').selectedOptions[0].textContent === 'All sessions');
  assert.deepEqual(await named(), []);
  assert.equal(await page.isVisible('.listing header .menu'), false);
}

/** Deleting asks first, in the list and on the discussion's own page. */
async function deleted(page, server, id) {
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForFunction(OVER);
  const click = async () => {
    await page.click('.menu summary >> text=More');
    await page.click('button.delete');
    await page.waitForSelector('dialog >> text=can’t be undone');
  };
  await click();
  await page.click('dialog >> text=Never mind');
  assert.equal((await fetch(`${server.base}/api/discussions/${id}/result`)).status, 200);
  await click();
  await page.click('dialog .primary');
  await page.waitForURL(`${server.base}/`);
  assert.equal((await fetch(`${server.base}/api/discussions/${id}/result`)).status, 404);
  await page.waitForSelector('.entry');
  const before = await page.locator('.entry').count();
  await page.locator('.entry .menu summary').first().click();
  await page.locator('.entry >> text=Delete…').first().click();
  await page.click('dialog .primary');
  await page.waitForFunction((count) => document.querySelectorAll('.entry').length === count, before - 1);
}

/** The tab says when it is the reader's turn. */
async function turn(page, server) {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'Your turn?',
    pattern: 'roundtable',
    rounds: 1,
    participants: ['claude', 'ada:person'],
  });
  const icon = () => page.evaluate(() => new URL(document.querySelector('link[rel=icon]').href).pathname);
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForSelector('.person textarea');
  assert.deepEqual([await page.title(), await icon()], ['● Your turn: Your turn? · Quorum', '/assets/icon-turn.svg']);
  await page.fill('.person textarea', 'Done.');
  await page.press('.person textarea', 'Control+Enter');
  await page.waitForFunction(OVER);
  assert.deepEqual([await page.title(), await icon()], ['Your turn? · Quorum', '/assets/icon.svg']);
}

/** A result that fell short says why, and is not green. */
async function fellShort(page, server) {
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'Without one?',
    providers: ['claude', 'gemini', 'grok'],
    rounds: 1,
    simulate: { latencyMs: 0, dead: ['grok'] },
  });
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForFunction(OVER);
  await page.waitForSelector('.synthesis .caution >> text=Degraded: without grok');
  const look = () => page.evaluate(() => [document.querySelector('.synthesis').dataset.tone, document.querySelector('.chip.state').dataset.lifecycle]);
  assert.deepEqual(await look(), ['less', 'less']);
  assert.equal(await page.textContent('.chip.state'), 'finished, degraded');
  // So does the list.
  const entry = JSON.parse(await server.get('/api/discussions')).find((it) => it.discussionId === id);
  assert.deepEqual([entry.success, entry.outcome.degraded], [true, true]);
  // A record that ended without success says so in words.
  const facts = await record(server, id);
  const told = facts.map((it) => (it.type === 'concluded' ? { ...it, success: false, stopping: 'budget' } : it));
  await tell(page, told.map((it) => (it.type === 'decided' ? { ...it, decision: { ...it.decision, standing: undefined } } : it)));
  await page.reload();
  await page.waitForSelector('.banner >> text=Less than asked: without grok; the budget was used up');
  assert.equal(await page.textContent('.chip.state'), 'finished, incomplete');
  await page.unroute(EVENTS);
}

/** An attempt of which nothing more was heard has ended when the next one begins. */
async function abandoned(page, server) {
  const { discussionId: id } = await server.post('/api/discussions', { topic: 'Lost?', providers: ['claude', 'gemini'], rounds: 1 });
  const facts = await record(server, id);
  const at = facts.findIndex((it) => it.type === 'call_placed');
  const again = { ...facts[at], attempt: 2, repeats: true };
  facts.splice(at + 1, 0, again);
  const last = facts.at(-1).active_ms;
  await tell(page, facts.map((it, index) => ({ ...it, seq: index + 1, active_ms: Math.max(it.active_ms, index * 10, last) })));
  await page.goto(`${server.base}/d/${id}`);
  await page.waitForFunction(OVER);
  const spans = await page.evaluate(() => quorum.whole.spans.map(({ from, to, isLost }) => ({ from, to, isLost })));
  assert.deepEqual(spans[0], { from: at + 1, to: at + 2, isLost: true });
  assert.ok(spans.every((it) => it.to !== null));
  const lost = await page.waitForSelector('.track path.lost:not([d=""])', { state: 'attached' });
  assert.ok((await lost.getAttribute('d')).length > 0);
  await page.unroute(EVENTS);
}
