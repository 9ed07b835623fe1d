import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatMs } from '@agentci/lib/numbers';
import { UserError } from '@agentci/lib/problems';
import type * as bullmq from 'bullmq';
import type { Redis, RedisOptions } from 'ioredis';
import { addressText, PASSWORD_VARIABLE, type QueueAddress, USERNAME_VARIABLE } from './address.ts';
import { KEY_COUNT, SCRIPTS } from './scripts.ts';

/** A Redis client with the scripts of AgentCI. */
export type Client = Redis & {
  readonly [name in keyof typeof SCRIPTS]: (
    ...args: (string | number | Buffer)[]
  ) => Promise<name extends 'start' ? [state: string, about?: string] : unknown>;
};

/** Errors of a lost connection, from ioredis and from the sockets below it. */
const LOST =
  /connection (?:is |was )?clos|writeable|max retries per request|socket (?:closed|timeout)|ECONN|EPIPE|LOADING|UNBLOCKED|NR_CLOSED/i;
/** Replies of a Redis that cannot work now: out of memory or disk, a replica, busy. */
const REFUSED =
  /^(?:OOM|READONLY|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|EXECABORT)\b/;
const RETRY_MS = 100;
const CONNECT_MS = 10_000;
/** Time to wait for a Redis that is starting. */
const STARTING_MS = 3000;
/** Timeout of a command. After it the connection is considered dead and is replaced. */
const SILENT_MS = 5000;
/** BullMQ blocks for up to ten seconds. */
const SILENT_BULLMQ_MS = 13_000;

/** Loads the optional packages. `require` takes two thirds of the time of `import`: they have three hundred files. */
export function loadPackages(): typeof bullmq & { readonly Redis: typeof Redis } {
  const load = createRequire(import.meta.url);
  try {
    return { ...load('bullmq'), Redis: load('ioredis').Redis };
  } catch (error) {
    if (!/MODULE_NOT_FOUND$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new UserError(
      'PACKAGE_MISSING',
      'a queue needs the packages bullmq and ioredis, and they are not installed',
      { hint: 'npm install --save-dev bullmq ioredis' },
    );
  }
}

const redisOptions = ({ host, port, db, username, password, isTls }: QueueAddress) => ({
  host,
  port,
  db,
  username,
  password,
  // An IP address has no server name.
  tls: isTls ? { servername: isIP(host) === 0 ? host : undefined } : undefined,
  connectTimeout: CONNECT_MS,
  retryStrategy: (times: number) => Math.min(50 * times, 1000),
});

/**
 * Connects a BullMQ worker. Its commands wait for a Redis that went away. Results are sent over the same connection, so that they
 * are in Redis before BullMQ completes their jobs.
 */
export const connectWorker = (address: QueueAddress): Client => {
  const options = { maxRetriesPerRequest: null, socketTimeout: SILENT_BULLMQ_MS };
  const { Redis } = loadPackages();
  return withScripts(new Redis({ ...redisOptions(address), ...options } as RedisOptions));
};

function withScripts(redis: Redis): Client {
  for (const [name, lua] of Object.entries(SCRIPTS))
    redis.defineCommand(name, { lua, numberOfKeys: KEY_COUNT });
  return redis as unknown as Client;
}

interface Patience {
  readonly onNote: (message: string) => void;
  /** Time to wait for a Redis that is gone or cannot work. */
  readonly patienceMs: number;
  /** The same after the signal is aborted. */
  readonly abortedPatienceMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A connection to a Redis that may restart, hang or be full for a while. */
export class QueueConnection {
  readonly redis: Client;
  readonly #address: QueueAddress;
  readonly #patience: Patience;
  /** Calls that wait for Redis to come back. */
  #waiting = 0;

  private constructor(redis: Client, address: QueueAddress, patience: Patience) {
    this.redis = redis;
    this.#address = address;
    this.#patience = patience;
  }

  static async open(address: QueueAddress, patience: Patience): Promise<QueueConnection> {
    const redis = await connect(address);
    try {
      await checkRedis(redis, patience.onNote);
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    return new QueueConnection(redis, address, patience);
  }

  /** Repeats an action until Redis answers, so it must be safe to do twice. Throws QUEUE_LOST when patience is over. */
  async call<T>(action: () => Promise<T>): Promise<T> {
    for (let since: number | undefined; ; await sleep(RETRY_MS)) {
      try {
        const value = await action();
        if (since !== undefined && --this.#waiting === 0) this.#patience.onNote('Redis is back');
        return value;
      } catch (error) {
        const { message } = error as Error;
        const isRefused = REFUSED.test(message);
        const isTransient = isRefused || LOST.test(message);
        if (isTransient && since === undefined) {
          since = Date.now();
          if (this.#waiting++ === 0) this.#noteOutage(isRefused ? message : undefined);
        }
        const { signal, patienceMs, abortedPatienceMs } = this.#patience;
        const limitMs = signal?.aborted ? abortedPatienceMs : patienceMs;
        if (isTransient && Date.now() - since! < limitMs) continue;
        if (since !== undefined) this.#waiting--;
        throw isTransient
          ? this.#lost(Date.now() - since!, isRefused ? message : undefined)
          : this.#replyError(error);
      }
    }
  }

  close = (): void => hangUp(this.redis);

  #noteOutage(refusal: string | undefined): void {
    const { patienceMs, onNote } = this.#patience;
    const how = refusal === undefined ? 'went away' : `cannot work (${refusal})`;
    const limit = Number.isFinite(patienceMs) ? ` for ${formatMs(patienceMs)}` : '';
    onNote(`the Redis at ${addressText(this.#address)} ${how}; waiting for it${limit}`);
  }

  #lost(waitedMs: number, refusal: string | undefined): UserError {
    const at = addressText(this.#address);
    const within = formatMs(Math.min(waitedMs, this.#patience.patienceMs));
    return new UserError(
      'QUEUE_LOST',
      refusal === undefined
        ? `the Redis at ${at} went away and did not come back within ${within}`
        : `the Redis at ${at} cannot work, and did not recover within ${within}: ${refusal}`,
      {
        hint: `Finished results are stored. ${refusal === undefined ? 'Start Redis again' : 'Fix the Redis'}, then continue with --resume.`,
      },
    );
  }

  #replyError(error: unknown): unknown {
    if (!(error instanceof Error) || error.name !== 'ReplyError') return error;
    return new UserError(
      'QUEUE_LOST',
      `the Redis at ${addressText(this.#address)} refused a command: ${error.message}`,
      {
        hint: 'Another program has written to the keys of AgentCI, or the user may not use the command. Finished results are stored: continue with --resume.',
      },
    );
  }
}

/** Closes a connection at once. A silent Redis would not agree to end it. */
export function hangUp(redis: Redis): void {
  redis.disconnect();
  redis.stream?.destroy();
}

/** Connects, or explains what is wrong with the address. */
async function connect(address: QueueAddress): Promise<Client> {
  for (const until = Date.now() + STARTING_MS; ; await sleep(RETRY_MS)) {
    try {
      return await tryConnect(address);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const isStarting = code === 'ECONNREFUSED' || LOST.test(message);
      if (!isStarting || Date.now() > until) throw connectError(address, error as Error);
    }
  }
}

async function tryConnect(address: QueueAddress): Promise<Client> {
  const { Redis } = loadPackages();
  const options = redisOptions(address);
  const redis = new Redis({
    ...options,
    lazyConnect: true,
    retryStrategy: () => null,
    // Commands fail at once when Redis is gone: `call` decides how long to retry.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SILENT_MS,
  } as RedisOptions);
  let fault: Error | undefined;
  redis.on('error', (error: Error) => {
    fault = error;
  });
  try {
    await redis.connect();
    await redis.ping();
    // ioredis reports a database that does not exist as an event, and uses the first one.
    if (fault !== undefined) throw fault;
  } catch (error) {
    hangUp(redis);
    throw fault ?? error;
  }
  redis.options.retryStrategy = options.retryStrategy;
  return withScripts(redis);
}

interface ConnectError {
  readonly pattern: RegExp;
  readonly code: string;
  readonly what: (at: string, message: string, address: QueueAddress) => string;
  readonly hint: (address: QueueAddress) => string;
}

/** Possible faults of an address. The first matching pattern counts. */
const CONNECT_ERRORS: readonly ConnectError[] = [
  {
    pattern: /NOAUTH|WRONGPASS|NOPERM|invalid username-password|Authentication/i,
    code: 'QUEUE_REFUSED',
    what: (at, message) => `the Redis at ${at} does not let us in: ${message}`,
    hint: ({ username, password }) =>
      password === undefined
        ? `Set ${PASSWORD_VARIABLE}${username === undefined ? `, and ${USERNAME_VARIABLE} if there is one` : ''}.`
        : `${PASSWORD_VARIABLE} is set, and what it says is not accepted${username === undefined ? ` (without ${USERNAME_VARIABLE})` : ` for the user in ${USERNAME_VARIABLE}`}. Correct it, or what the Redis allows this user.`,
  },
  {
    pattern: /Unknown RESP type|reply type byte|Protocol error/i,
    code: 'QUEUE_LOST',
    what: (at) => `what answers at ${at} is not a Redis`,
    hint: ({ isTls }) =>
      `Correct the host and port of --queue${isTls ? '' : '; a port that speaks TLS needs rediss://'}.`,
  },
  {
    pattern: /DB index is out of range/i,
    code: 'OPTION_INVALID',
    what: (at, _, { db }) => `the Redis at ${at} has no database ${db}`,
    hint: () =>
      'Most have 0 to 15. Leave the number out of --queue, or let the Redis have more ("databases" of its configuration).',
  },
  {
    pattern: /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|self-signed|certificate/i,
    code: 'QUEUE_REFUSED',
    what: (at, message) => `the certificate of the Redis at ${at} cannot be trusted: ${message}`,
    hint: () =>
      'Name the file of the authority that issued it: NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
  },
  {
    pattern: /^/,
    code: 'QUEUE_LOST',
    what: (at, message) => `there is no Redis at ${at}: ${message}`,
    hint: ({ isTls }) =>
      isTls
        ? 'Correct --queue. Use rediss:// only for a port that speaks TLS.'
        : 'Start one (redis-server), or correct --queue. A port that speaks TLS needs rediss://.',
  },
];

function connectError(address: QueueAddress, error: Error): UserError {
  const { code: errno = '' } = error as NodeJS.ErrnoException;
  const text = `${errno} ${error.message}`;
  const { code, what, hint } = CONNECT_ERRORS.find(({ pattern }) => pattern.test(text))!;
  const message = what(addressText(address), error.message || errno, address);
  return new UserError(code, message, { hint: hint(address) });
}

/** Refuses a Redis that BullMQ cannot use, or that would lose results. */
async function checkRedis(redis: Client, onNote: (message: string) => void): Promise<void> {
  try {
    await redis.info('server');
  } catch (error) {
    throw new UserError(
      'QUEUE_REFUSED',
      `the user of the Redis may not use the command INFO: ${(error as Error).message}`,
      { hint: 'Allow it: ACL SETUSER name +info.' },
    );
  }
  const reply = await redis.config('GET', 'maxmemory-policy').catch(() => undefined);
  if (reply === undefined) {
    onNote(
      'whether this Redis throws data away when it is full cannot be seen (CONFIG is not allowed): set maxmemory-policy to noeviction',
    );
    return;
  }
  const policy = (reply as string[])[1];
  if (policy !== undefined && policy !== 'noeviction')
    throw new UserError(
      'QUEUE_EVICTS',
      `this Redis throws data away when it is full (maxmemory-policy ${policy}), so results could be lost`,
      { hint: 'Set maxmemory-policy to noeviction, or use another Redis.' },
    );
}
