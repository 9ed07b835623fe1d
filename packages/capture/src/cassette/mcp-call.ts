import { isObject } from '@agentci/lib/data';
import type { Counts, Message, TapLine } from '@agentci/mcp';
import { linesOf } from '@agentci/mcp';

/** One request to an MCP server and its answer. */
export interface McpCall {
  readonly server: string;
  readonly method: string;
  readonly params?: unknown;
  /** `result` or `error` from the server. Absent if the agent cancelled the request before. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** Notifications of the server before the answer, and after it. */
  readonly before?: readonly Message[];
  readonly after?: readonly Message[];
  /** Number of other unsolicited messages by method. They are not replayed. */
  readonly leftOut?: Counts;
}

/** Writes a cassette line with a reply of an MCP server. These lines follow the model calls. */
export const writeMcpCall = (
  { server, method, params, answer, before, after, leftOut }: McpCall,
  at: number,
): object => ({
  mcp: at + 1,
  server,
  method,
  params,
  ...(answer === undefined ? { cancelled: true } : { answer }),
  notifications: before,
  notifications_after: after,
  left_out: leftOut,
});

/** Parses a line, or returns the problem. */
export function readMcpCall(line: Readonly<Record<string, unknown>>, at: number): McpCall | string {
  const {
    server,
    method,
    params,
    answer,
    notifications: before,
    notifications_after: after,
    left_out: leftOut,
  } = line;
  if (line.mcp !== at + 1) return `"mcp" should be ${at + 1}`;
  if (typeof server !== 'string' || typeof method !== 'string')
    return '"server" or "method" is missing';
  if (!isMessages(before) || !isMessages(after) || !isCounts(leftOut))
    return '"notifications", "notifications_after" or "left_out" is not what a server sent';
  const asked = {
    server,
    method,
    params,
    before,
    after,
    leftOut,
  };
  if (line.cancelled === true && answer === undefined) return asked;
  if (!isObject(answer) || !('result' in answer || 'error' in answer))
    return 'the answer of the server is missing';
  return { ...asked, answer };
}

const isMessages = (value: unknown): value is readonly Message[] | undefined =>
  value === undefined ||
  (Array.isArray(value) && value.every((one) => isObject(one) && typeof one.method === 'string'));

const isCounts = (value: unknown): value is Counts | undefined =>
  value === undefined ||
  (isObject(value) && Object.values(value).every((one) => Number.isInteger(Number(one))));

/** Calls in the line format of a tap. */
export const linesOfCalls = (calls: readonly McpCall[]): TapLine[] =>
  calls.flatMap(({ server: _, answer, ...call }, at) => linesOf({ id: at + 1, answer, ...call }));
