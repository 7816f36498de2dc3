// Real time, counted at a provider: answers that take 70 s, a client that gives up after 1 s, and a
// server that is killed. A vote asks each voice once, and nothing else.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from './connect.mjs';

const order = (...providers) => ({
  topic: `Tabs or spaces, ${providers.join(' or ')}?`, pattern: 'voting', consensusMethod: 'voting', rounds: 1,
  votingOptions: ['tabs', 'spaces'], timeout: 300000, providers,
});
// How often each of these was asked, and how often it answered.
async function counted(...names) {
  const calls = await (await fetch(`${process.env.VENDOR}/calls`)).json();
  const of = (name) => calls.filter((it) => it.model.startsWith(`${name}-`));
  return names.map((name) => [of(name).length, of(name).filter((it) => it.answered).length]);
}

async function slow() {
  const { client, call, finished, errors } = await connect('stdio');
  const progress = [];
  const began = Date.now();
  const options = { timeout: 60000, onprogress: () => progress.push(Date.now() - began) };
  const handle = await call('ax_discuss', order('anna', 'ben'), options);
  const took = Date.now() - began;
  assert.equal(handle.status, 'running', JSON.stringify(handle));
  assert.ok(took >= 49000 && took <= 51000, `the handle came after ${took} ms`);
  const gaps = progress.map((at, index) => at - (progress[index - 1] ?? 0));
  assert.ok(progress.length >= 4 && Math.max(...gaps) <= 10000, `progress at ${progress}`);
  const told = await finished(handle.discussionId);
  assert.equal(told.status, 'completed', JSON.stringify(told));
  assert.deepEqual(await counted('anna', 'ben'), [[1, 1], [1, 1]]);
  assert.deepEqual(errors, []);
  await client.close();
  return `a handle after ${(took / 1000).toFixed(1)} s, 1 call per voice`;
}

async function impatient() {
  const { client, call, finished } = await connect('stdio');
  await assert.rejects(call('ax_discuss', order('cleo', 'dan'), { timeout: 1000 }));
  const { discussions } = await call('ax_status', {});
  const { discussionId: id } = discussions.find((it) => it.topic === order('cleo', 'dan').topic);
  assert.equal((await finished(id)).status, 'paused');
  await call('ax_control', { id, action: 'resume' });
  assert.equal((await finished(id)).status, 'completed');
  assert.deepEqual(await counted('cleo', 'dan'), [[1, 1], [1, 1]]);
  await client.close();
  return 'given up after 1 s: paused, resumed, 1 call per voice';
}

async function killed() {
  const first = await connect('stdio');
  const { discussionId: id } = await first.call('ax_discuss', { ...order('eva', 'finn'), maxWaitMs: 0 });
  // One voice has answered, and the call to the other is under way.
  while (JSON.stringify(await counted('eva', 'finn')) !== '[[1,1],[1,0]]') await pause(50);
  await pause(1000);
  process.kill(first.pid, 'SIGKILL');
  const next = await connect('stdio');
  assert.equal((await next.finished(id)).status, 'completed');
  assert.deepEqual(await counted('eva', 'finn'), [[1, 1], [2, 1]], 'only the call under way is made again');
  await next.client.close();
  return 'killed: no answered call was repeated';
}

console.log((await Promise.all([slow(), impatient(), killed()])).join('; '));
process.exit(0);
