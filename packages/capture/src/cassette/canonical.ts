import { unpacked } from '@agentci/formats';
import { canonicalJson, sha256Hex } from '@agentci/lib/data';
import { findDuplicateKey, parseExact } from '@agentci/lib/json';
import { mapTexts, withoutCredentialFields, withoutCredentials } from '@agentci/lib/secrets';
import { withPlainCallIds } from './call-ids.ts';
import { prepareIgnore } from './ignore.ts';
import { plainPath } from './plain-path.ts';
import { prepareScrub, type Scrub } from './scrub.ts';

/** A request as the front receives it. */
export interface RawRequest {
  readonly provider: string;
  readonly method: string;
  /** The part after the provider's address, with the query string. */
  readonly path: string;
  readonly body: Buffer;
  readonly encoding?: string | undefined;
}

/**
 * The content of a request without credentials: JSON, other text, or the hash of bytes, which
 * cannot be reviewed.
 */
export type RequestBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly sha256: string; readonly size: number };

/** A request as stored in a cassette. */
export interface StoredRequest {
  readonly provider: string;
  readonly method: string;
  readonly path: string;
  readonly body: RequestBody;
}

export const emptyBody: RequestBody = { kind: 'text', text: '' };

/** Reads a request and removes its credentials. A body that cannot be parsed is kept as bytes. */
export function readRequest({ provider, method, path, body, encoding }: RawRequest): StoredRequest {
  return { provider, method, path: plainPath(path), body: readBody(unpacked(body, encoding)) };
}

function readBody(bytes: Buffer): RequestBody {
  if (bytes.length === 0) return emptyBody;
  const text = bytes.toString('utf8');
  if (Buffer.byteLength(text) !== bytes.length || text.includes('\uFFFD')) {
    const plain = withoutCredentials(oneBoundary(bytes.toString('latin1')));
    return { kind: 'bytes', sha256: sha256Hex(plain), size: plain.length };
  }
  const value = parse(text);
  if (value === undefined) return { kind: 'text', text: withoutCredentials(oneBoundary(text)) };
  const bare = withoutCredentialFields(text);
  // Servers differ in which of two duplicate keys they take, so the body stays text.
  if (findDuplicateKey(text) !== undefined) return { kind: 'text', text: withoutCredentials(bare) };
  // Most requests contain none. Checking the whole text is faster than checking all its parts.
  const isClean = withoutCredentials(bare) === bare;
  const kept = bare === text ? value : parseExact(bare);
  return { kind: 'json', value: isClean ? kept : mapTexts(kept, withoutCredentials) };
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Clients generate a new boundary between the parts of a form for each request. */
function oneBoundary(text: string): string {
  const border = /^--([^\r\n]{8,70})\r\n/.exec(text)?.[1];
  return border === undefined ? text : text.replaceAll(border, 'boundary');
}

/** The compared form of a request. Two requests with the same form get the same answer. */
export interface Canonical {
  /** `POST openai /chat/completions`. */
  readonly place: string;
  /** The body after `ignore` and `scrub`. */
  readonly body: unknown;
  readonly key: string;
}

/** The rules for comparing requests. */
export interface MatchRules {
  readonly ignore: readonly string[];
  readonly scrub: Scrub;
  readonly canonical: (request: StoredRequest) => Canonical;
  /** Like `canonical`, without `scrub`. */
  readonly exactKey: (request: StoredRequest) => string;
  /**
   * A hash in the cassette to detect requests that were edited by hand. It includes the ids of
   * calls.
   */
  readonly storedKey: (request: StoredRequest) => string;
}

interface GivenRules {
  readonly ignore: readonly string[];
  readonly scrub: readonly string[];
}

/** Cached rules. All cassettes of a suite share them, with their cached entries. */
const made = new Map<string, MatchRules>();
const MAX_MADE = 100;

export function matchRules(given: GivenRules): MatchRules {
  const name = JSON.stringify([given.ignore, given.scrub]);
  const known = made.get(name);
  if (known !== undefined) return known;
  if (made.size >= MAX_MADE) made.clear();
  const rules = makeRules(given);
  made.set(name, rules);
  return rules;
}

function makeRules(given: GivenRules): MatchRules {
  const ignore = prepareIgnore(given.ignore);
  const scrub = prepareScrub(given.scrub);
  const bodyOf = ({ body }: StoredRequest): unknown => {
    if (body.kind === 'json') return ignore(body.value);
    if (body.kind === 'text') return { text: body.text };
    return { sha256: body.sha256 };
  };
  // An entry is used when its file is read, and again when it answers requests.
  const seen = new WeakMap<StoredRequest, Canonical>();
  const canonical = (request: StoredRequest): Canonical => {
    const before = seen.get(request);
    if (before !== undefined) return before;
    const found = compute(request);
    seen.set(request, found);
    return found;
  };
  const bare = (body: unknown): unknown => (scrub.isEmpty ? body : scrubbed(body, scrub));
  const placeOf = ({ method, provider, path: given }: StoredRequest): string => {
    const path = sharedPath(given);
    return `${method} ${provider} ${scrub.isEmpty ? path : scrub.text(path)}`;
  };
  const compute = (request: StoredRequest): Canonical => {
    const place = placeOf(request);
    const body = bare(withPlainCallIds(bodyOf(request)));
    return { place, body, key: keyOf(place, body) };
  };
  return {
    ignore: given.ignore,
    scrub,
    canonical,
    exactKey: (request) =>
      keyOf(
        `${request.method} ${request.provider} ${sharedPath(request.path)}`,
        withPlainCallIds(bodyOf(request)),
      ),
    storedKey: (request) => keyOf(placeOf(request), bare(bodyOf(request))),
  };
}

const keyOf = (place: string, body: unknown): string =>
  sha256Hex(`${place}\n${canonicalJson(body)}`).slice(0, 32);

/**
 * Some clients add the version depending on their base address, which may differ between machines.
 */
const sharedPath = (path: string): string => path.replace(/^\/(?:openai\/)?v1(?=\/)/, '');

function scrubbed(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub.text(value);
  if (typeof value === 'number') {
    const text = String(value);
    const changed = scrub.text(text);
    return changed === text ? value : changed;
  }
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, scrub));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [scrub.text(key), scrubbed(inner, scrub)]),
  );
}
