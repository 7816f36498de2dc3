// A client of the TypeScript SDK whose every answer is checked against the tool's output schema.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { checker } from './schemas.mjs';

export async function connect(transport, ...flags) {
  const client = new Client({ name: 'a test', version: '1' });
  const errors = [];
  // A line on standard output that is no message.
  client.onerror = (error) => errors.push(error);
  const connection = transport === 'http'
    ? new StreamableHTTPClientTransport(new URL(process.env.MCP_URL))
    : new StdioClientTransport({ command: process.env.AX, args: ['mcp', ...flags], env: { ...process.env }, stderr: 'ignore' });
  await client.connect(connection);
  const fits = checker((await client.listTools()).tools);
  const call = async (name, args, options) =>
    fits(name, await client.callTool({ name, arguments: args }, undefined, options));
  // Calls the tool until the discussion no longer runs.
  const finished = async (id) => {
    for (;;) {
      const told = await call('ax_result', { id });
      if (!['queued', 'running'].includes(told.status)) return told;
    }
  };
  return { client, call, finished, errors, pid: connection.pid };
}
