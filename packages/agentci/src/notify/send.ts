import { createHmac } from 'node:crypto';
import { pause, withDeadline } from '@agentci/lib/net';
import { SECRETS } from '@agentci/lib/secrets';
import { plural } from '@agentci/lib/text';
import type { Io } from '../cli/io.ts';
import { addressOf, type Channel, channelProblem, tokenOf, URLS } from './channels.ts';

const TIMEOUT_MS = 10_000;
const FIRST_WAIT_MS = 500;
const TRIES = 3;
const MAX_WAIT_MS = 10_000;

/**
 * Posts a document. Returns the reason if delivery failed. It never contains an address or a key.
 */
export async function sendNotice(
  channel: Channel,
  body: string,
  io: Io,
  {
    timeoutMs = TIMEOUT_MS,
    firstWaitMs = FIRST_WAIT_MS,
  }: { timeoutMs?: number; firstWaitMs?: number } = {},
): Promise<string | undefined> {
  const wrong = channelProblem(channel, io.env);
  if (wrong !== undefined) return wrong;
  const address = addressOf(channel, io.env);
  SECRETS.add([{ name: URLS[channel], value: address }]);
  const url = new URL(address);
  for (let attempt = 1; ; attempt++) {
    const outcome = await post(url, body, headersOf(channel, body, io), {
      ms: timeoutMs,
      signal: io.signal,
    });
    if (outcome.isDone) return outcome.reason;
    if (attempt < TRIES)
      await pause(
        Math.min(MAX_WAIT_MS, outcome.waitMs ?? firstWaitMs * 2 ** (attempt - 1)),
        io.signal,
      );
    if (attempt === TRIES || io.signal.aborted)
      return `${outcome.reason} (${plural(attempt, 'attempt')})`;
  }
}

interface Outcome {
  readonly isDone: boolean;
  /** Absent if delivered. */
  readonly reason?: string;
  readonly waitMs?: number;
}

async function post(
  url: URL,
  body: string,
  headers: Record<string, string>,
  limit: Parameters<typeof withDeadline>[0],
): Promise<Outcome> {
  try {
    const response = await withDeadline(limit, async (deadline) => {
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers,
        // A redirect would send the message and its signature to an unconfigured address.
        redirect: 'manual',
        signal: deadline.signal,
      });
      await answer.body?.cancel();
      return answer;
    });
    if (response.ok) return { isDone: true };
    const reason = `the server answered ${response.status}`;
    if (response.status !== 429 && response.status < 500) return { isDone: true, reason };
    const seconds = Number(response.headers.get('retry-after') ?? '');
    return { isDone: false, reason, waitMs: seconds > 0 ? seconds * 1000 : undefined };
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } };
    if (cause?.message === 'bad port')
      return { isDone: true, reason: 'the URL uses a port that is reserved for another protocol' };
    return {
      isDone: false,
      reason:
        name === 'TimeoutError'
          ? `no answer within ${limit.ms / 1000} s`
          : connectionText(cause?.code),
    };
  }
}

/** Explanations of network error codes. Other codes are shown unchanged. */
const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the server refused the connection',
  ECONNRESET: 'the server closed the connection',
  EPIPE: 'the server closed the connection',
  UND_ERR_SOCKET: 'the server closed the connection',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved right now',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
};

const connectionText = (code: string | undefined): string =>
  code === undefined
    ? 'the connection failed'
    : (CONNECTION[code] ?? `the connection failed: ${code}`);

function headersOf(channel: Channel, body: string, { env, version }: Io): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': `agentci/${version}`,
  };
  if (channel !== 'webhook') return headers;
  const token = tokenOf(env);
  const secret = env.AGENTCI_WEBHOOK_SECRET ?? '';
  if (token !== '') headers.authorization = `Bearer ${token}`;
  if (secret !== '')
    headers['x-agentci-signature'] =
      `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return headers;
}
