// The same with the successor of the TypeScript SDK.
import * as sdk from '@modelcontextprotocol/client';
import { run } from './talk.mjs';

const stdio = async () => {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return new StdioClientTransport({ command: process.env.AX, args: ['mcp', '--offline'], env: { ...process.env } });
};
const transport = process.argv[2] === 'stdio'
  ? await stdio()
  : new sdk.StreamableHTTPClientTransport(new URL(process.env.MCP_URL));
await run(new sdk.Client({ name: 'a test', version: '1' }), transport, (options) => [options]);
