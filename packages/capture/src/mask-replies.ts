import type { FoundSecret } from '@agentci/lib/secrets';
import { maskMark, SECRETS } from '@agentci/lib/secrets';
import type { Exchange } from './exchange.ts';

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A text in an event of a stream, and its path. */
interface Leaf {
  readonly text: string;
  readonly holder: Record<string, unknown>;
  readonly key: string;
}

interface StreamEvent {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
}

type Find = (text: string) => readonly FoundSecret[];

/** Finds secrets in a whole reply, and in texts that a client would join. */
interface SecretFinder {
  readonly whole: Find;
  readonly joined: Find;
}

const KNOWN: SecretFinder = {
  whole: (text) => SECRETS.findInDocument(text),
  joined: (text) => SECRETS.find(text),
};

/** Masks keys that a reply holds in parts: over two chunks, or over the texts of several events. */
export function maskReply(exchange: Exchange, finder: SecretFinder = KNOWN): Exchange {
  if ((finder === KNOWN && SECRETS.isEmpty) || exchange.chunks.length === 0) return exchange;
  const whole = Buffer.concat(exchange.chunks.map(([, bytes]) => bytes)).toString('latin1');
  const edits = [...eventEdits(whole, finder.joined), ...plainEdits(whole, finder.whole)].toSorted(
    (a, b) => a.start - b.start,
  );
  return edits.length === 0 ? exchange : { ...exchange, chunks: edited(exchange.chunks, edits) };
}

/** Masks contiguous keys, which a chunk border may split. */
const plainEdits = (whole: string, find: Find): Edit[] =>
  find(whole).map(({ start, end, name }) => ({ start, end, text: maskMark(name) }));

/**
 * Masks texts that a client joins, by their position in the events. Of the parts of one key only
 * the first shows its mark.
 */
function eventEdits(whole: string, find: Find): Edit[] {
  const events = eventsOf(whole);
  if (events.length < 2) return [];
  const places = new Map<string, Leaf[]>();
  const owners = new Map<Leaf, StreamEvent>();
  for (const event of events)
    for (const [place, leaf] of leavesOf(event.value, '')) {
      const known = places.get(place);
      if (known === undefined) places.set(place, [leaf]);
      else known.push(leaf);
      owners.set(leaf, event);
    }
  const changed = new Set<StreamEvent>();
  for (const leaves of places.values())
    for (const leaf of maskLeaves(leaves, find)) changed.add(owners.get(leaf)!);
  return [...changed].map(({ start, end, value }) => ({
    start,
    end,
    text: Buffer.from(JSON.stringify(value), 'utf8').toString('latin1'),
  }));
}

/** The texts that a client joins from the events of a stream, given as bytes or as values. */
export function joinedTexts(stream: unknown): string[] {
  let events: readonly unknown[] = [];
  if (typeof stream === 'string') events = eventsOf(stream).map(({ value }) => value);
  else if (Array.isArray(stream)) events = stream;
  if (events.length < 2) return [];
  const places = new Map<string, string>();
  for (const event of events)
    for (const [place, { text }] of leavesOf(event, ''))
      places.set(place, (places.get(place) ?? '') + text);
  return [...places.values()];
}

function maskLeaves(leaves: readonly Leaf[], find: Find): Leaf[] {
  if (leaves.length < 2) return [];
  const found = find(leaves.map(({ text }) => text).join(''));
  if (found.length === 0) return [];
  const changed: Leaf[] = [];
  let at = 0;
  for (const leaf of leaves) {
    const from = at;
    at += leaf.text.length;
    const own = found.filter(({ start, end }) => start < at && end > from);
    if (own.length === 0) continue;
    let text = '';
    let done = from;
    for (const { start, end, name } of own) {
      text +=
        leaf.text.slice(done - from, Math.max(start, from) - from) +
        (start >= from ? maskMark(name) : '');
      done = Math.min(end, at);
    }
    leaf.holder[leaf.key] = text + leaf.text.slice(done - from);
    changed.push(leaf);
  }
  return changed;
}

/** Events of a stream, or lines of JSON. */
function eventsOf(whole: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const match of whole.matchAll(/^(?:data:[ \t]*)?(\{.*\})[ \t]*\r?$/gm)) {
    const start = match.index + match[0].indexOf('{');
    const text = match[1]!;
    try {
      const value: unknown = JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
      events.push({ start, end: start + text.length, value });
    } catch {
      // Unparseable data is searched as text.
    }
  }
  return events;
}

const MAX_DEPTH = 32;

function* leavesOf(value: unknown, place: string, depth = 0): Generator<[string, Leaf]> {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  for (const [key, inner] of Object.entries(value)) {
    const here = `${place}/${key}`;
    if (typeof inner === 'string')
      yield [here, { text: inner, holder: value as Record<string, unknown>, key }];
    else yield* leavesOf(inner, here, depth + 1);
  }
}

/** Applies the edits to the chunks. A text across several chunks is put into the first of them. */
function edited(chunks: Exchange['chunks'], edits: readonly Edit[]): Exchange['chunks'] {
  let at = 0;
  return chunks.map(([dt, bytes]) => {
    const [from, to] = [at, at + bytes.length];
    at = to;
    const parts: Buffer[] = [];
    let done = from;
    for (const { start, end, text } of edits) {
      if (end <= done || start >= to) continue;
      if (start >= done)
        parts.push(bytes.subarray(done - from, start - from), Buffer.from(text, 'latin1'));
      done = Math.max(done, Math.min(end, to));
    }
    parts.push(bytes.subarray(done - from));
    return [dt, Buffer.concat(parts)] as const;
  });
}
