// 1,000 requests, 25 at a time, then 200 discussions at once: each is answered, queued, or refused
// as BUSY with a time. `max_running` is 50, and `max_queued` is 100.
import assert from 'node:assert/strict';
import { connect } from './connect.mjs';

const { client, call, errors } = await connect(process.argv[2], '--offline');
const quick = { rounds: 1, providers: ['claude', 'gemini'] };
const { discussionId: id } = await call('ax_discuss', { topic: 'Tabs or spaces?', ...quick });
const requests = [
  ['ax_status', {}], ['ax_history', { limit: 5 }], ['ax_result', { id }], ['ax_list_models', {}],
];
const times = [];
let number = 0;
const worker = async () => {
  while (number < 1000) {
    const mine = number++;
    const [tool, args] = mine % 5 === 4
      ? ['ax_discuss', { topic: `Question ${mine}?`, ...quick }]
      : requests[mine % 5];
    const began = performance.now();
    const told = await call(tool, args);
    times.push(performance.now() - began);
    assert.equal(told.code, undefined, JSON.stringify(told));
  }
};
const began = performance.now();
await Promise.all(Array.from({ length: 25 }, worker));
const seconds = (performance.now() - began) / 1000;
assert.equal(times.length, 1000);
times.sort((a, b) => a - b);

const counts = { completed: 0, handles: 0, BUSY: 0 };
const one = async (_, at) => {
  const order = { topic: `At once ${at}?`, ...quick, simulate: { latencyMs: 2000 }, maxWaitMs: 20000 };
  const told = await call('ax_discuss', order, { timeout: 60000 });
  if (told.code) {
    assert.equal(told.code, 'BUSY', JSON.stringify(told));
    assert.ok(told.retryAfterMs > 0, JSON.stringify(told));
    counts.BUSY += 1;
  } else {
    counts[told.status === 'completed' ? 'completed' : 'handles'] += 1;
  }
};
await Promise.all(Array.from({ length: 200 }, one));
assert.ok(counts.completed + counts.handles >= 150 && counts.BUSY > 0, JSON.stringify(counts));
assert.deepEqual(errors, []);
await client.close();
const at = (share) => times[Math.floor(times.length * share)].toFixed(0);
console.log(`1,000 in ${seconds.toFixed(1)} s, median ${at(0.5)} ms, 99 % within ${at(0.99)} ms; at once: ${JSON.stringify(counts)}`);
process.exit(0);
