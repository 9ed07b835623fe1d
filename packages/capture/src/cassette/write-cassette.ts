import { bytesToJson } from '@agentci/formats';
import { parseExact, stringifyExact } from '@agentci/lib/json';
import { matchRules, type RequestBody } from './canonical.ts';
import { CASSETTE_SCHEMA, type Cassette, type CassetteEntry } from './cassette.ts';
import { writeMcpCall } from './mcp-call.ts';
import { DeltaWriter } from './request-delta.ts';
import { writeUserWords } from './user-words.ts';

/** The text of a cassette: a header, then one line for each exchange. */
export function writeCassette(cassette: Cassette): string {
  const {
    agent,
    id,
    run,
    cell,
    recordedAt,
    tool,
    providers,
    ignore,
    scrub,
    entries,
    noCalls,
    user = [],
    mcp,
  } = cassette;
  const rules = matchRules({ ignore, scrub });
  const deltas = new DeltaWriter();
  const header = {
    schema: CASSETTE_SCHEMA,
    agent,
    query: id,
    run,
    cell,
    recorded_at: recordedAt,
    tool,
    exchanges: entries.length,
    no_calls: noCalls,
    user_replies: user.length !== 0 ? user.length : undefined,
    mcp_calls: mcp?.length,
    providers,
    ignore,
    scrub,
  };
  const lines = entries.map((entry) => {
    const { i, provider, route, method, path, model, body } = entry;
    return {
      i,
      key: rules.storedKey(entry),
      provider,
      route,
      method,
      path,
      model,
      request: requestOf(i, body, deltas),
      response: responseOf(entry),
      asked_usage: entry.askedUsage,
      why: entry.why,
      hung_up_after_s: entry.hungUpAfterS,
      scrubbed: entry.scrubbed,
    };
  });
  return `${[header, ...lines, ...user.map(writeUserWords), ...(mcp ?? []).map(writeMcpCall)].map((line) => stringifyExact(line)).join('\n')}\n`;
}

function requestOf(i: number, body: RequestBody, deltas: DeltaWriter): unknown {
  if (body.kind === 'json') return deltas.write(i, body.value) ?? { body: body.value };
  return body.kind === 'text' ? { text: body.text } : { sha256: body.sha256, size: body.size };
}

/**
 * JSON that serializes to the same bytes is stored as JSON, for readers. Any other reply is stored
 * in its chunks.
 */
function responseOf({ status, headers, chunks }: CassetteEntry): unknown {
  const head = { status, headers };
  if (chunks.length === 0) return head;
  if (chunks.length > 1) return { ...head, chunks: chunks.map(bytesToJson) };
  const text = bytesToJson(chunks[0]!);
  const json = typeof text === 'string' ? sameJson(text) : undefined;
  return json === undefined ? { ...head, chunks: [text] } : { ...head, json };
}

function sameJson(text: string): unknown {
  if (!/^[{[]/.test(text)) return undefined;
  try {
    const value = parseExact(text);
    return stringifyExact(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
