import { bytesOf } from '@agentci/formats';
import { isObject } from '@agentci/lib/data';
import { parseExact, stringifyExact } from '@agentci/lib/json';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { ROUTES, type Route } from '../exchange.ts';
import { matchRules, type RequestBody } from './canonical.ts';
import {
  CASSETTE_SCHEMA,
  type Cassette,
  type CassetteEntry,
  type CassetteName,
  type CassetteProvider,
} from './cassette.ts';
import { IGNORE_FORM } from './ignore.ts';
import { type McpCall, readMcpCall } from './mcp-call.ts';
import { applyDelta, type RequestDelta } from './request-delta.ts';
import { whyNotScrub } from './scrub.ts';
import { readUserWords, type UserWords } from './user-words.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The content of the first line of a cassette. */
export type CassetteHeader = Omit<Cassette, 'entries' | 'user' | 'mcp'> & {
  readonly exchanges: number;
  readonly userReplies: number;
  /** Absent if MCP servers were not recorded. */
  readonly mcpCalls?: number;
};

const RECORD_AGAIN =
  'Restore the file from version control, or record it again with --cassette record.';

/**
 * Reads a cassette strictly. Rejects one that is damaged, truncated, of another version or of
 * another query, because it would return wrong answers.
 */
export function readCassette(text: string, file: string): Cassette {
  const damaged = (line: number, what: string, hint = RECORD_AGAIN): never => {
    throw new UserError('CASSETTE_DAMAGED', `${file}:${line}: ${what}`, { hint });
  };
  if (/^(?:<<<<<<<|=======|>>>>>>>)/m.test(text))
    damaged(
      1,
      'the file has merge conflicts',
      'Take one of the two versions, or record it again with --cassette record.',
    );
  if (text.trim() === '') damaged(1, 'the file is empty');
  if (!text.endsWith('\n'))
    damaged(text.split('\n').length, 'the last line has no end: the file was cut short');
  const lines = text.slice(0, -1).split('\n');
  const header = readHeader(lines[0] ?? '', file);
  const rules = matchRules(header);
  const { exchanges, userReplies, mcpCalls, ...rest } = header;
  const expected = exchanges + userReplies + (mcpCalls ?? 0);
  const found = lines.length - 1;
  if (found !== expected) damaged(lines.length, countText(header, found));
  const bodies = new Map<number, unknown>();
  const entries = lines.slice(1, exchanges + 1).map((line, at): CassetteEntry => {
    const number = at + 2;
    const value = parseLine(line) ?? damaged(number, 'the line is not a JSON object');
    const entry = readEntry(value, at + 1, bodies);
    if (typeof entry === 'string') return damaged(number, entry);
    if (entry.body.kind === 'json') bodies.set(entry.i, entry.body.value);
    if (value.key !== undefined && value.key !== rules.storedKey(entry))
      damaged(
        number,
        'the request was changed by hand: its key no longer fits it',
        'Remove "key" from the line if the change is meant. A request that builds on this one (its "base") changes too.',
      );
    return entry;
  });
  const afterUser = exchanges + userReplies + 1;
  const user = lines.slice(exchanges + 1, afterUser).map((line, at): UserWords => {
    const number = exchanges + at + 2;
    const words = readUserWords(
      parseLine(line) ?? damaged(number, 'the line is not a JSON object'),
      at,
    );
    return typeof words === 'string' ? damaged(number, words) : words;
  });
  const mcp = lines.slice(afterUser).map((line, at): McpCall => {
    const number = afterUser + at + 1;
    const call = readMcpCall(
      parseLine(line) ?? damaged(number, 'the line is not a JSON object'),
      at,
    );
    return typeof call === 'string' ? damaged(number, call) : call;
  });
  return {
    ...rest,
    entries,
    user: user.length !== 0 ? user : undefined,
    mcp: mcpCalls === undefined ? undefined : mcp,
  };
}

function countText({ exchanges, userReplies, mcpCalls }: CassetteHeader, found: number): string {
  const expected = exchanges + userReplies + (mcpCalls ?? 0);
  const replies =
    (userReplies === 0 ? '' : ` and ${plural(userReplies, 'reply', 'replies')} of the user`) +
    (mcpCalls === undefined ? '' : ` and ${plural(mcpCalls, 'answer')} of MCP servers`);
  return `the first line announces ${plural(exchanges, 'exchange')}${replies}, one per line, and ${plural(found, 'line')} ${found === 1 ? 'follows' : 'follow'} it: ${found < expected ? 'the file was cut short' : 'lines were added'}`;
}

/** Reads the first line only. */
export function readHeader(line: string, file: string): CassetteHeader {
  const value = parseLine(line);
  const refuse = (what: string): never => {
    throw new UserError('CASSETTE_DAMAGED', `${file}:1: ${what}`, { hint: RECORD_AGAIN });
  };
  if (value === undefined || typeof value.schema !== 'string')
    return refuse('the first line is not the header of a cassette');
  if (value.schema !== CASSETTE_SCHEMA)
    throw new UserError(
      'CASSETTE_DAMAGED',
      `${file}:1: it is of the version "${value.schema}", not "${CASSETTE_SCHEMA}"`,
      {
        hint: 'Update AgentCI if the file was made by a later version; otherwise record it again with --cassette record.',
      },
    );
  const { agent, query, run, cell, recorded_at, tool, exchanges, providers, ignore, scrub } = value;
  const { user_replies: userReplies = 0, no_calls: noCalls, mcp_calls: mcpCalls } = value;
  if (typeof agent !== 'string' || typeof query !== 'string' || typeof tool !== 'string')
    return refuse('the header lacks agent, query or tool');
  if (
    !isCount(run, 1) ||
    !isCount(exchanges, 0) ||
    !isCount(userReplies, 0) ||
    !isCount(mcpCalls ?? 0, 0)
  )
    return refuse(
      '"run", "exchanges", "user_replies" and "mcp_calls" of the header must be whole numbers',
    );
  if (typeof recorded_at !== 'string' || Number.isNaN(Date.parse(recorded_at)))
    return refuse('"recorded_at" of the header is not a date');
  if (
    cell !== undefined &&
    !(isObject(cell) && Object.values(cell).every((one) => typeof one === 'string'))
  )
    return refuse('"cell" of the header is not a map of texts');
  if (!isObject(providers) || !Object.values(providers).every(isObject))
    return refuse('"providers" of the header is not a map');
  if (!isTexts(ignore) || !ignore.every((item) => IGNORE_FORM.test(item)))
    return refuse('"ignore" of the header cannot be read');
  if (!isTexts(scrub) || scrub.some((item) => whyNotScrub(item) !== undefined))
    return refuse('"scrub" of the header cannot be read');
  if (noCalls !== undefined && !(noCalls === true && exchanges === 0))
    return refuse('"no_calls" of the header is not true, or there are exchanges');
  return {
    agent,
    id: query,
    run,
    cell: cell === undefined ? undefined : (cell as NonNullable<CassetteName['cell']>),
    recordedAt: recorded_at,
    tool,
    exchanges,
    userReplies,
    mcpCalls: mcpCalls === undefined ? undefined : (mcpCalls as number),
    noCalls,
    providers: providers as Readonly<Record<string, CassetteProvider>>,
    ignore,
    scrub,
  };
}

/** The entry, or its problem. */
function readEntry(
  value: Fields,
  i: number,
  bodies: ReadonlyMap<number, unknown>,
): CassetteEntry | string {
  const { provider, route, method, path, model, response, why, scrubbed } = value;
  if (value.i !== i) return `"i" should be ${i}`;
  if (typeof provider !== 'string' || typeof method !== 'string' || typeof path !== 'string')
    return 'provider, method or path is missing';
  if (!ROUTES.includes(route as Route))
    return `the route ${JSON.stringify(route) ?? 'is missing'} is not known`;
  if (model !== undefined && typeof model !== 'string') return '"model" is not a text';
  if (value.asked_usage !== undefined && typeof value.asked_usage !== 'boolean')
    return '"asked_usage" is not true or false';
  if (why !== undefined && why !== 'client_abort') return '"why" is not known';
  const { hung_up_after_s: hungUpAfterS } = value;
  if (hungUpAfterS !== undefined && !isCount(hungUpAfterS, 1))
    return '"hung_up_after_s" is not a whole number';
  if (scrubbed !== undefined && !isTexts(scrubbed)) return '"scrubbed" is not a list of texts';
  const body = readBody(value.request, i, bodies);
  if (typeof body === 'string') return body;
  const reply = readResponse(response);
  if (typeof reply === 'string') return reply;
  return {
    i,
    provider,
    route: route as Route,
    method,
    path,
    model,
    body,
    ...reply,
    askedUsage: value.asked_usage === true ? true : undefined,
    why,
    hungUpAfterS,
    scrubbed,
  };
}

function readBody(
  request: unknown,
  i: number,
  bodies: ReadonlyMap<number, unknown>,
): RequestBody | string {
  if (!isObject(request)) return 'the request is missing';
  if ('body' in request) return { kind: 'json', value: request.body };
  if (typeof request.text === 'string') return { kind: 'text', text: request.text };
  if (typeof request.sha256 === 'string' && isCount(request.size, 0))
    return { kind: 'bytes', sha256: request.sha256, size: request.size };
  if (!isDelta(request)) return 'the request cannot be read';
  if (request.base >= i || !bodies.has(request.base))
    return `the request builds on exchange ${request.base}, which is not there`;
  const value = applyDelta(request, bodies.get(request.base));
  return value === undefined
    ? `the request does not fit exchange ${request.base}, which it builds on`
    : { kind: 'json', value };
}

const isDelta = (value: Fields): value is Fields & RequestDelta =>
  isCount(value.base, 1) &&
  (value.set === undefined || isObject(value.set)) &&
  (value.unset === undefined || isTexts(value.unset)) &&
  (value.append === undefined ||
    (isObject(value.append) &&
      Object.values(value.append).every(
        (one) => isObject(one) && isCount(one.keep, 0) && Array.isArray(one.add),
      )));

function readResponse(
  response: unknown,
): Pick<CassetteEntry, 'status' | 'headers' | 'chunks'> | string {
  if (!isObject(response)) return 'the response is missing';
  const { status, headers, chunks = [] } = response;
  if (!isCount(status, 200) || status > 599) return 'the status of the response is not one';
  if (!isObject(headers) || !Object.entries(headers).every(isHeader))
    return 'the headers of the response cannot be read';
  if ('json' in response)
    return {
      status,
      headers: headers as Record<string, string>,
      chunks: [Buffer.from(stringifyExact(response.json))],
    };
  const isPiece = (piece: unknown): boolean =>
    typeof piece === 'string' ||
    (isObject(piece) && typeof piece.b64 === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(piece.b64));
  if (!Array.isArray(chunks) || !chunks.every(isPiece)) return 'the response cannot be read';
  return { status, headers: headers as Record<string, string>, chunks: chunks.map(bytesOf) };
}

/** Node refuses to send other headers. */
const isHeader = ([name, value]: [string, unknown]): boolean =>
  /^[a-z0-9-]{1,100}$/.test(name) &&
  typeof value === 'string' &&
  /^[\t\x20-\x7e]{0,1000}$/.test(value);

const isCount = (value: unknown, least: number): value is number =>
  Number.isInteger(value) && (value as number) >= least;
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

function parseLine(line: string): Fields | undefined {
  try {
    const value: unknown = parseExact(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
