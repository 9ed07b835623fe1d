import { isObject } from '../../kit/object.ts';
import { linesOf } from '../../mcp/cassette/player.ts';
import type { TapLine } from '../../mcp/tap-log.ts';

/** One request to an MCP server and its answer. */
export interface McpCall {
  readonly server: string;
  readonly method: string;
  readonly params?: unknown;
  /** `result` or `error`, as the server gave it; absent where the agent cancelled the request before that. */
  readonly answer?: Readonly<Record<string, unknown>>;
}

/** A line of a cassette for what an MCP server answered, after those of the model's calls. */
export const writeMcpCall = ({ server, method, params, answer }: McpCall, at: number): object => ({
  mcp: at + 1,
  server,
  method,
  ...(params === undefined ? {} : { params }),
  ...(answer === undefined ? { cancelled: true } : { answer }),
});

/** What a line holds, or what is wrong with it. */
export function readMcpCall(line: Readonly<Record<string, unknown>>, at: number): McpCall | string {
  const { server, method, params, answer } = line;
  if (line.mcp !== at + 1) return `"mcp" should be ${at + 1}`;
  if (typeof server !== 'string' || typeof method !== 'string') return '"server" or "method" is missing';
  const asked = { server, method, ...(params === undefined ? {} : { params }) };
  if (line.cancelled === true && answer === undefined) return asked;
  if (!isObject(answer) || !('result' in answer || 'error' in answer)) return 'the answer of the server is missing';
  return { ...asked, answer };
}

/** Calls as a tap would have written them down. */
export const linesOfCalls = (calls: readonly McpCall[]): TapLine[] =>
  calls.flatMap(({ method, params, answer }, at) => linesOf({ id: at + 1, method, params, answer }));
