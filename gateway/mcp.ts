/**
 * The tools over MCP (streamable HTTP, without sessions: each request stands alone, so a restart loses nothing).
 *
 * 1. A request is bounded in size before the protocol's own code sees it; an attempt's writes are bounded in number.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { RequestRefused } from './refused.ts';
import { readBody } from './request.ts';
import { toolsOf } from './tools.ts';
import type { ToolPort } from './tools.ts';
import type { Caller, GatewayLog } from './types.ts';

const BODY_BYTES = 256 * 1024;
/** Writes of one attempt. Nobody has that much to say. */
export const WRITES = 200;

export type McpHandler = (caller: Caller, request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function createMcp(port: ToolPort, log: GatewayLog): McpHandler {
  const writes = new Map<string, number>();
  return async (caller, request, response) => {
    // There is nothing that we would tell an agent unasked, and no session to end.
    if (request.method !== 'POST') throw new RequestRefused(405, 'Only POST: these tools keep no session.');
    const body = await readBody(request, BODY_BYTES);
    let message: unknown;
    try {
      message = JSON.parse(body.toString('utf8'));
    } catch {
      throw new RequestRefused(400, 'The body is not JSON.');
    }
    const server = serverFor(caller, port, log, writes);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on('close', () => {
      void transport.close();
      void server.close();
    });
    await server.connect(transport as Parameters<McpServer['connect']>[0]);
    await transport.handleRequest(request, response, message);
  };
}

function serverFor(caller: Caller, port: ToolPort, log: GatewayLog, writes: Map<string, number>): McpServer {
  const server = new McpServer({ name: 'swarmline', version: '1' });
  const attempt = `${caller.run}/${caller.task}/${caller.attempt}`;
  for (const { name, description, input, call, writes: isWrite } of toolsOf(caller.role)) {
    server.registerTool(name, { description, inputSchema: input }, async (given: unknown) => {
      const said = (text: string, isError = false) => ({ content: [{ type: 'text' as const, text }], isError });
      const count = (writes.get(attempt) ?? 0) + 1;
      if (isWrite) {
        if (count > WRITES) return said(`An attempt may write ${WRITES} times; this one has.`, true);
        writes.set(attempt, count);
      }
      try {
        return said(await call(port, caller, given as never, `${attempt}/${count}`));
      } catch (error) {
        log.warn({ tool: name, attempt, error: String(error) }, 'a tool failed');
        return said(`${name} is not available at the moment; go on without it.`, true);
      }
    });
  }
  return server;
}
