// What both TypeScript clients do: every tool once, progress, and a call that the client gives up.
import assert from 'node:assert/strict';
import { checker } from './schemas.mjs';

export async function run(client, transport, withOptions) {
  const errors = [];
  // A line on standard output that is no message, or an answer that was cancelled. The SDK itself
  // drops progress that comes in one piece with the answer, and calls that an error.
  client.onerror = (error) => /progress .* unknown token/.test(error.message) || errors.push(error);
  await client.connect(transport);
  const listed = (await client.listTools()).tools;
  const tools = new Set(listed.map((it) => it.name));
  const fits = checker(listed);
  const used = new Set();
  const call = async (name, args, options) => {
    used.add(name);
    const result = await client.callTool({ name, arguments: args }, ...withOptions(options));
    return fits(name, result);
  };
  const quick = { rounds: 1, providers: ['claude', 'gemini'] };
  const progress = [];
  // Not at once, so that some progress comes before the answer.
  const done = await call('ax_discuss', { topic: 'Tabs or spaces?', ...quick, simulate: { latencyMs: 300 } },
    { onprogress: (it) => progress.push(it.progress) });
  assert.equal(done.status, 'completed');
  assert.ok(progress.length > 0, 'no progress was told');
  const one = { id: done.discussionId };
  await call('ax_discuss_quick', { topic: 'Tabs or spaces?' });
  await call('ax_discuss_recursive', { topic: 'Tabs or spaces, deeply?', ...quick });
  await call('ax_result', { ...one, fullOutput: true });
  await call('ax_status', {});
  await call('ax_history', { limit: 5 });
  await call('ax_list_models', {});
  await call('ax_fork', { ...one, changes: { rounds: 2 } });
  await call('ax_control', { ...one, action: 'pause' });
  await call('ax_say', { ...one, text: 'Too late.' });
  const workflow = await call('ax_workflow_run', { name: 'two-steps', input: { what: 'tabs' } });
  assert.equal(workflow.status, 'completed', JSON.stringify(workflow));
  assert.equal(workflow.stepResults.length, 2);
  const refused = await call('ax_discuss', { topic: '', rounds: 0 });
  assert.equal(refused.code, 'INVALID_INPUT');

  // A client that gives up after 1 s pauses its discussion; each voice is asked once all the same.
  const slow = { topic: `Slow ${process.pid}?`, ...quick, simulate: { latencyMs: 3000 } };
  await assert.rejects(call('ax_discuss', slow, { timeout: 1000 }));
  const list = (await call('ax_status', {})).discussions;
  const id = list.find((it) => it.topic === slow.topic).discussionId;
  let told = { status: 'running' };
  while (told.status === 'running') told = await call('ax_result', { id, waitMs: 1000 });
  assert.equal(told.status, 'paused', JSON.stringify(told));
  await call('ax_control', { id, action: 'resume' });
  told = await call('ax_result', { id });
  assert.equal(told.status, 'completed', JSON.stringify(told));
  assert.equal(told.costSummary.totalCalls, 3, JSON.stringify(told.costSummary));
  assert.deepEqual(used, tools);
  assert.deepEqual(errors, []);
  await client.close();
  console.log(`${used.size} tools, progress ${progress.join(' ')}, given up: paused, resumed, 3 calls`);
}
