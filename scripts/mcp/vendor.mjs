// A provider in OpenAI's chat format. A model takes as many milliseconds as the end of its name
// says. GET /calls lists the calls so far, each with its model and whether it was answered.
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const calls = [];

// A ballot for the first option, in the schema that a vote sends along.
function ballot(body) {
  const sent = JSON.stringify(body);
  const choice = sent.includes('tabs') ? 'tabs' : 'first';
  return JSON.stringify({ reasoning: 'They adapt to each reader.', choice, confidence: 0.7 });
}

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(request.url === '/calls' ? calls : { object: 'list', data: [] }));
  }
  const asked = await body(request);
  const call = { model: asked.model, answered: false };
  calls.push(call);
  await pause(Number(asked.model.split('-').at(-1)));
  if (response.destroyed) return undefined;
  const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: asked.model };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const events = [
    { ...chunk, choices: [{ index: 0, delta: { content: ballot(asked) } }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { ...chunk, choices: [], usage },
  ];
  response.setHeader('content-type', 'text/event-stream');
  response.end(`${events.map((it) => `data: ${JSON.stringify(it)}\n\n`).join('')}data: [DONE]\n\n`);
  call.answered = true;
  return undefined;
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
