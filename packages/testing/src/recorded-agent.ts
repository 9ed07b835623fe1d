import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Cassette } from '@agentci/capture';
import {
  type CaptureSlot,
  type CassetteMode,
  CassetteSession,
  createCapture,
  matchRules,
  provenText,
  readCassette,
} from '@agentci/capture';

export interface TapedOptions {
  readonly ignore?: readonly string[];
  readonly scrub?: readonly string[];
  readonly errors?: boolean;
  readonly repeatsLast?: boolean;
}

/** Runs a function behind a capture that records into a cassette, replays one, or both. */
export async function withTape<T>(
  mode: CassetteMode,
  given: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cassette?: Cassette | undefined;
    readonly options?: TapedOptions;
    readonly command?: readonly string[];
  },
  work: (slot: CaptureSlot) => Promise<T>,
) {
  const { ignore = [], scrub = [], errors = false, repeatsLast = false } = given.options ?? {};
  const rules = matchRules({ ignore, scrub });
  const session = new CassetteSession({
    mode,
    rules,
    errors,
    repeatsLast,
    cassette: given.cassette,
    file: 'q.jsonl',
  });
  const capture = createCapture({
    planes: ['llm'],
    env: given.env,
    cwd: import.meta.dirname,
    command: given.command ?? ['node'],
    offline: mode === 'replay' ? { providers: given.cassette?.providers ?? {} } : undefined,
  });
  const slot = await capture.open({ answer: session.answer, onBlocked: session.blocked });
  slot.begin();
  try {
    const value = await work(slot);
    const seen = await slot.end('itself');
    const entries = session.entries(seen.evidence.exchanges);
    const called = new Set((entries ?? []).map(({ provider }) => provider));
    const text =
      entries === undefined
        ? undefined
        : provenText(
            {
              agent: 'a',
              id: 'q',
              run: 1,
              recordedAt: '2026-11-17T09:00:00.000Z',
              tool: 'agentci',
              providers: capture.providersOf(called),
              ignore,
              scrub,
              entries,
            },
            rules,
            'q.jsonl',
          );
    const cassette = text === undefined ? given.cassette : readCassette(text, 'q.jsonl');
    return { value, seen, session, text, cassette };
  } finally {
    await slot.close();
    await capture.close();
  }
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Chunks as received. */
  readonly chunks: readonly Buffer[];
}

/** Sends a request without an SDK, to see the chunks of the reply. */
export async function ask(
  url: string,
  body: string | Buffer,
  { method = 'POST', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const sent = httpRequest(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    agent: false,
  });
  sent.end(method === 'GET' ? undefined : body);
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  // A read loop would merge chunks that arrived together.
  reply.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(reply, 'end');
  return { status: reply.statusCode ?? 0, headers: reply.headers, chunks };
}
