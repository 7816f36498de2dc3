// Calls every tool with the TypeScript SDK, which checks structured content against the schemas.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { run } from './talk.mjs';

const transport = process.argv[2] === 'stdio'
  ? new StdioClientTransport({ command: process.env.AX, args: ['mcp', '--offline'], env: { ...process.env } })
  : new StreamableHTTPClientTransport(new URL(process.env.MCP_URL));
await run(new Client({ name: 'a test', version: '1' }), transport, (options) => [undefined, options]);
