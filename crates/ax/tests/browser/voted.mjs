// A vote that was taken again: the page shows the first vote beside the last one.

import { assert, record, scenario } from './harness.mjs';

await scenario('[defaults]\nsimulate = "latency=0ms"\n', async (server, open) => {
  const page = await open();
  const { discussionId: id } = await server.post('/api/discussions', {
    topic: 'Best API style?',
    pattern: 'voting',
    votingOptions: ['REST', 'GraphQL', 'gRPC'],
    threshold: 1,
    seed: 7,
  });
  await record(server, id);
  const result = JSON.parse(await server.get(`/api/discussions/${id}/result`));
  assert.ok(result.firstVote, 'a further vote took place');
  await page.goto(`${server.base}/d/${id}`);
  // The meter shows how much agreement decides, as the terminal does.
  await page.waitForSelector('.meter.bounded');
  assert.match(await page.textContent('.wide-figure .value'), /^\d\.\d\d \(need 1\.00\)$/);
  assert.equal(await page.evaluate(() => document.querySelector('.meter').style.getPropertyValue('--need')), '1');
  for (const [title, vote, round] of [
    ['First vote', result.firstVote, 1],
    ['Votes', result.votingResults, 2],
  ]) {
    assert.ok(vote.voteRecords.every((it) => it.round === round), title);
    const panel = page.locator(`section[aria-label="${title}"]`);
    await panel.locator('table.tally').waitFor();
    for (const [option, weight] of Object.entries(vote.weightedVotes)) {
      const row = panel.locator('tr', { hasText: option });
      const cells = await row.locator('td').allTextContents();
      assert.deepEqual(cells.map((it) => it.trim()), [option, String(vote.votes[option]), weight.toFixed(2)], title);
    }
    const told = await panel.locator('details').textContent();
    for (const it of vote.voteRecords) assert.ok(told.includes(`${it.provider} votes ${it.choice} `), `${title}: ${told}`);
  }
});
