import { isObject } from '../../kit/object.ts';
import type { Message } from '../../mcp/message.ts';
import type { TapLine } from '../../mcp/tap-log.ts';

/** One request to an MCP server and its answer. */
export interface McpCall {
  readonly server: string;
  readonly method: string;
  readonly params?: unknown;
  /** `result` or `error`, as the server gave it. */
  readonly answer: Readonly<Record<string, unknown>>;
}

/** A line of a cassette for what an MCP server answered, after those of the model's calls. */
export const writeMcpCall = ({ server, method, params, answer }: McpCall, at: number): object => ({
  mcp: at + 1,
  server,
  method,
  ...(params === undefined ? {} : { params }),
  answer,
});

/** What a line holds, or what is wrong with it. */
export function readMcpCall(line: Readonly<Record<string, unknown>>, at: number): McpCall | string {
  const { server, method, params, answer } = line;
  if (line.mcp !== at + 1) return `"mcp" should be ${at + 1}`;
  if (typeof server !== 'string' || typeof method !== 'string') return '"server" or "method" is missing';
  if (!isObject(answer) || !('result' in answer || 'error' in answer)) return 'the answer of the server is missing';
  return { server, method, ...(params === undefined ? {} : { params }), answer };
}

/** Calls as a tap would have written them down. */
export const linesOfCalls = (calls: readonly McpCall[]): TapLine[] =>
  calls.flatMap(({ method, params, answer }, at): TapLine[] => {
    const id = at + 1;
    const request: Message = { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
    return [
      { ts: '', dir: 'c2s', message: request },
      { ts: '', dir: 's2c', message: { jsonrpc: '2.0', id, ...answer } },
    ];
  });
