import { isFields } from '@agentci/trace';

/**
 * The body of a streamed chat request with usage requested. Undefined if the client requested it
 * already, or if nothing is streamed. Without usage the cost of a stream is unknown.
 */
export function askUsage(body: Buffer): Buffer | undefined {
  if (!body.includes('"stream"')) return undefined;
  let asked: unknown;
  try {
    asked = JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isFields(asked) || asked.stream !== true) return undefined;
  const options = asked.stream_options;
  if (options === undefined) {
    // Inserted as text, so that the rest stays unchanged: numbers, spaces, the order of keys.
    const at = body.indexOf('{') + 1;
    const added = Buffer.from('"stream_options":{"include_usage":true},');
    return Buffer.concat([body.subarray(0, at), added, body.subarray(at)]);
  }
  if (options !== null && !isFields(options)) return undefined;
  if (options?.include_usage === true) return undefined;
  return Buffer.from(
    JSON.stringify({ ...asked, stream_options: { ...options, include_usage: true } }),
  );
}

const EVENT_END = /\r\n\r\n|\n\n|\r\r/g;
/** A longer event without an end is not an event and passes unchanged. */
const MAX_EVENT = 1024 * 1024;

/**
 * Removes unrequested data from a stream: the chunk with the usage, and `"usage": null` in the
 * others.
 */
export class UsageFilter {
  #tail: Buffer | undefined;

  /** The complete events, which can be passed on. */
  push(chunk: Buffer): Buffer | undefined {
    const bytes = this.#tail === undefined ? chunk : Buffer.concat([this.#tail, chunk]);
    // As bytes, so that a split character at the end of a chunk survives.
    const text = bytes.toString('latin1');
    let end = 0;
    const kept: string[] = [];
    for (const found of text.matchAll(EVENT_END)) {
      const next = found.index + found[0].length;
      kept.push(filtered(text.slice(end, found.index), found[0]));
      end = next;
    }
    const rest = bytes.subarray(end);
    if (rest.length > MAX_EVENT) {
      this.#tail = undefined;
      return Buffer.concat([Buffer.from(kept.join(''), 'latin1'), rest]);
    }
    this.#tail = rest.length === 0 ? undefined : rest;
    if (end === 0) return undefined;
    const out = kept.join('');
    return out === '' ? undefined : Buffer.from(out, 'latin1');
  }

  /** The incomplete rest. */
  end(): Buffer | undefined {
    const tail = this.#tail;
    this.#tail = undefined;
    return tail === undefined
      ? undefined
      : Buffer.from(filtered(tail.toString('latin1'), ''), 'latin1');
  }
}

/** One event as binary text, without unrequested data. */
function filtered(event: string, end: string): string {
  if (!event.includes('"usage"')) return event + end;
  const match = /^data: ?(\{[\s\S]*\})$/m.exec(event);
  if (match === null) return event + end;
  let chunk: unknown;
  try {
    chunk = JSON.parse(Buffer.from(match[1]!, 'latin1').toString('utf8'));
  } catch {
    return event + end;
  }
  if (!isFields(chunk) || !('usage' in chunk)) return event + end;
  if (chunk.usage === null)
    return event.replace(match[1]!, () => withoutNull(match[1]!, chunk)) + end;
  const isUsageAlone = Array.isArray(chunk.choices) && chunk.choices.length === 0;
  return isUsageAlone ? '' : event + end;
}

/**
 * Removed as text if that certainly gives the same object. Otherwise the object is serialized
 * again.
 */
function withoutNull(json: string, chunk: Readonly<Record<string, unknown>>): string {
  const { usage: _, ...rest } = chunk;
  const written = JSON.stringify(rest);
  for (const pattern of [/,\s*"usage"\s*:\s*null(?=\s*[,}])/g, /"usage"\s*:\s*null\s*,\s*/g]) {
    const matches = [...json.matchAll(pattern)];
    const last = matches.at(-1);
    if (last === undefined) continue;
    const cut = json.slice(0, last.index) + json.slice(last.index + last[0].length);
    try {
      if (JSON.stringify(JSON.parse(Buffer.from(cut, 'latin1').toString('utf8'))) === written)
        return cut;
    } catch {
      // Try the other pattern, or serialize the object again.
    }
  }
  return Buffer.from(written).toString('latin1');
}
