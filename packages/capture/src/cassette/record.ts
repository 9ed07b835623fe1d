import { eventStreamIn, isEventStream, unpacked } from '@agentci/formats';
import { isObject } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { type FoundCredential, findCredentials, SECRETS } from '@agentci/lib/secrets';
import { andMore } from '@agentci/lib/text';
import type { Exchange } from '../exchange.ts';
import { joinedTexts, maskReply } from '../mask-replies.ts';
import { type MatchRules, readRequest, type StoredRequest } from './canonical.ts';
import type { Cassette, CassetteEntry } from './cassette.ts';
import { readCassette } from './read-cassette.ts';
import { RecordedAnswers } from './recorded-answers.ts';
import type { Scrub } from './scrub.ts';
import { writeCassette } from './write-cassette.ts';

/** 4xx statuses that concern the account or the moment, not the request. */
const NOT_ANSWERS: ReadonlySet<number> = new Set([401, 403, 408, 409, 429]);

const isAnswer = (status: number): boolean =>
  (status >= 200 && status < 300) || (status >= 400 && status < 500 && !NOT_ANSWERS.has(status));

export interface RecordOptions {
  readonly rules: MatchRules;
  /** Keeps failed replies too. */
  readonly errors: boolean;
}

/**
 * The exchanges of a run as entries, numbered from 1. A failed one is dropped if the same request
 * succeeded another time. Otherwise the recording could not be replayed and is rejected.
 */
export function recordEntries(
  exchanges: readonly Exchange[],
  { rules, errors }: RecordOptions,
): readonly CassetteEntry[] {
  const kept: CassetteEntry[] = [];
  const left: {
    readonly request: StoredRequest;
    readonly why: string;
    readonly isFailed: boolean;
  }[] = [];
  for (const exchange of exchanges) {
    const request = requestOf(exchange);
    const why = whyNotKept(exchange, errors);
    if (why === undefined)
      kept.push({ ...entryOf(exchange, request, rules.scrub), i: kept.length + 1 });
    else left.push({ request, why, isFailed: whyNotKept(exchange, true) === undefined });
  }
  const keys = new Set(kept.map((entry) => rules.canonical(entry).key));
  const lost = left.filter(({ request }) => !keys.has(rules.canonical(request).key));
  if (lost.length > 0)
    throw new UserError(
      'CASSETTE_INCOMPLETE',
      `the recording was not kept: ${lost.length} of ${exchanges.length} calls got no answer that can be replayed (${andMore([...new Set(lost.map(({ why }) => why))], 3)})`,
      {
        hint: lost.every(({ why }) => why === GIVEN_UP)
          ? 'Let the agent wait for the first byte of each answer while it is recorded, e.g. with a longer timeout: a call that it gave up before cannot be replayed.'
          : `Record it again when the provider answers${
              lost.every(({ isFailed }) => isFailed)
                ? ', or set "errors: true" under "cassette" to keep failed answers.'
                : ' in full: a reply that broke off, or never came, cannot be replayed.'
            }`,
      },
    );
  return kept;
}

export const requestOf = ({
  provider,
  method,
  path,
  uri,
  request,
  encoding,
}: Exchange): StoredRequest =>
  readRequest({ provider, method, path: path ?? pathOf(uri), body: request, encoding });

const pathOf = (uri: string): string => {
  const { pathname, search } = new URL(uri);
  return `${pathname}${search}`;
};

const GIVEN_UP = 'given up by the agent';

function whyNotKept(
  { status, complete, why, error }: Exchange,
  errors: boolean,
): string | undefined {
  if (status === undefined) return why === 'client_abort' ? GIVEN_UP : (error ?? why ?? 'no reply');
  if (!complete && why !== 'client_abort')
    return why === undefined ? 'cut off' : why.replaceAll('_', ' ');
  return errors || isAnswer(status) ? undefined : `status ${status}`;
}

/** Headers that clients depend on. */
const KEPT_HEADERS = [
  'content-type',
  'content-encoding',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
];
/** Clients show them to users, and they are unique per call. */
const ID_HEADERS = ['x-request-id', 'request-id', 'x-amzn-requestid'];

function entryOf(
  exchange: Exchange,
  request: StoredRequest,
  scrub: Scrub,
): Omit<CassetteEntry, 'i'> {
  const { reply, names } = withoutSecrets(exchange, scrub);
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = exchange.headers[name];
    if (value !== undefined && /^[\t\x20-\x7e]*$/.test(value)) headers[name] = value;
  }
  for (const name of ID_HEADERS)
    if (exchange.headers[name] !== undefined) headers[name] = 'replayed';
  const model = modelOf(request);
  return {
    ...request,
    route: exchange.route,
    model,
    status: exchange.status!,
    headers,
    chunks: reply.chunks.map(([, bytes]) => bytes),
    askedUsage: exchange.askedUsage === true ? true : undefined,
    why: exchange.why === 'client_abort' ? exchange.why : undefined,
    hungUpAfterS:
      exchange.why === 'client_abort' && exchange.endMs >= 1000
        ? Math.ceil(exchange.endMs / 1000)
        : undefined,
    scrubbed: names.length !== 0 ? names : undefined,
  };
}

function modelOf({ body, path }: StoredRequest): string | undefined {
  if (body.kind === 'json' && isObject(body.value) && typeof body.value.model === 'string')
    return body.value.model;
  const named = /\/(?:models?|deployments)\/([^/:?]+(?::\d+)?)/.exec(path)?.[1];
  return named === undefined ? undefined : decode(named);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Removes the credentials that `scrub` names from the reply. Any other credential rejects the
 * recording.
 */
function withoutSecrets(
  exchange: Exchange,
  scrub: Scrub,
): { readonly reply: Exchange; readonly names: readonly string[] } {
  const found = credentialsIn(exchange);
  if (found.length === 0) return { reply: exchange, names: [] };
  const bare = found.filter(({ credential, text }) => !scrub.covers(credential, text));
  const names = (list: typeof found): string[] =>
    [...new Set(list.map(({ credential }) => credential.name))].sort();
  const refuse = (shown: readonly string[], hint: string): never => {
    hide(found);
    throw new UserError(
      'CASSETTE_SECRET',
      `the recording was not kept: the reply to call ${exchange.i} holds a credential (${shown.join(', ')})`,
      { hint },
    );
  };
  if (bare.length > 0)
    refuse(
      names(bare),
      `Keep it away from the model; or let it be replaced with "scrub: [secret:${names(bare)[0]}]" under "cassette", and the agent gets the replacement in replay.`,
    );
  const reply = maskReply(exchange, { whole: findCredentials, joined: findCredentials });
  if (credentialsIn(reply).length > 0)
    refuse(
      names(found),
      'It cannot be taken out of a packed or binary reply: keep it away from the model.',
    );
  return { reply, names: names(found) };
}

/**
 * A rejected credential is in the agent's answer and trace too, so it is masked in all output from
 * now on.
 */
const hide = (
  found: readonly { readonly credential: FoundCredential; readonly text: string }[],
): void =>
  SECRETS.add(
    found.map(({ credential: { name, start, end }, text }) => ({
      name,
      value: text.slice(start, end),
      isUsed: true,
    })),
  );

/** Finds credentials in a reply, even if a stream splits them. */
function credentialsIn(
  exchange: Exchange,
): { readonly credential: FoundCredential; readonly text: string }[] {
  const bytes = unpacked(
    Buffer.concat(exchange.chunks.map(([, chunk]) => chunk)),
    exchange.headers['content-encoding'],
  );
  const whole = bytes.toString('latin1');
  const texts = [whole, ...joinedTexts(isEventStream(bytes) ? eventStreamIn(bytes) : whole)];
  return texts.flatMap((text) => findCredentials(text).map((credential) => ({ credential, text })));
}

/**
 * The verified text of a cassette: it can be read, every request in it finds its own answer, and it
 * contains no credential, even across parts.
 */
export function provenText(cassette: Cassette, rules: MatchRules, file: string): string {
  const text = writeCassette(cassette);
  const again = readCassette(text, file);
  const answers = new RecordedAnswers(again.entries, rules);
  for (const entry of cassette.entries) {
    const match = answers.take(entry);
    if (
      match?.entry.i !== entry.i ||
      !Buffer.concat(match.entry.chunks).equals(Buffer.concat(entry.chunks))
    )
      throw new UserError(
        'INTERNAL_FAULT',
        `the recording was not kept: call ${entry.i} would not be answered as recorded`,
        {
          hint: 'This is a fault of AgentCI; please report it with the request that it was.',
        },
      );
  }
  const found = findCredentials(text);
  if (found.length > 0 || SECRETS.document(text) !== text) {
    hide(found.map((credential) => ({ credential, text })));
    throw new UserError(
      'CASSETTE_SECRET',
      'the recording was not kept: a credential would be in its file',
      {
        hint: 'Look for it among the ids, names and paths of the requests.',
      },
    );
  }
  return text;
}
