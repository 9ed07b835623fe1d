import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions, Queue, QueueOptions, Worker, WorkerOptions } from 'bullmq';
import type { Redis, RedisOptions } from 'ioredis';
import { UserError } from '../kit/user-error.ts';
import { addressText, PASSWORD_VARIABLE, type QueueAddress, USERNAME_VARIABLE } from './address.ts';
import { SCRIPTS } from './scripts.ts';

interface Packages {
  readonly Queue: new (name: string, options: QueueOptions) => Queue;
  readonly Worker: new (
    name: string,
    process: (job: QueuedJob, token?: string) => Promise<void>,
    options: WorkerOptions,
  ) => Worker;
  readonly DelayedError: new () => Error;
  readonly Redis: new (options: RedisOptions) => Redis;
}

/** What of a job of BullMQ is used here. */
export interface QueuedJob {
  readonly id?: string | undefined;
  readonly data: unknown;
  /** How often a worker has taken it, this time included. */
  readonly attemptsStarted: number;
  readonly failedReason?: string | undefined;
  readonly updateData: (data: unknown) => Promise<void>;
  readonly moveToDelayed: (timestamp: number, token?: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** A Redis that knows our scripts. */
export type Client = Redis & {
  readonly admit: (...args: (string | Buffer)[]) => Promise<[string, string]>;
  readonly deliver: (...args: (string | Buffer | number)[]) => Promise<number[]>;
  readonly sign: (...args: (string | number)[]) => Promise<number>;
  readonly holdLease: (...args: (string | number)[]) => Promise<number>;
  readonly dropLease: (...args: string[]) => Promise<number>;
};

/** What everyone who lost a connection says. Several commands sent as one are not sent again by themselves. */
const LOST =
  /connection (?:is |was )?clos|connection close|ECONNRESET|EPIPE|socket closed|LOADING|UNBLOCKED|NR_CLOSED/i;
/** What a Redis says that is there and cannot work at the moment: out of memory or disk, a replica, moving, busy. */
const REFUSES =
  /^(?:OOM|READONLY|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|EXECABORT)\b/;
const PAUSE_MS = 100;
/** A Redis that is asked something answers sooner, or its connection is dead. Reading blocks for a second at the most. */
const SILENT_MS = 5000;
/** BullMQ blocks for up to ten seconds. */
const SILENT_BULLMQ_MS = 15_000;

/** How long a first connection may take. */
const CONNECT_MS = 10_000;
const PATIENCE_MS = 3000;

/** The packages a queue needs. Whoever uses none does not install them. */
export function loadPackages(): Packages {
  // By `require`, which loads their three hundred files in two thirds of the time that `import` takes.
  const load = createRequire(import.meta.url);
  try {
    const { Redis } = load('ioredis') as Packages;
    const { Queue, Worker, DelayedError } = load('bullmq') as Packages;
    return { Queue, Worker, DelayedError, Redis };
  } catch (error) {
    if (!/MODULE_NOT_FOUND$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new UserError(
      'QUEUE_PACKAGES',
      'a queue needs the packages bullmq and ioredis, and they are not installed',
      {
        hint: 'npm install --save-dev bullmq ioredis',
      },
    );
  }
}

/** Waits as long as it takes for a Redis that went away; whoever must not wait watches the connection. */
const redisOptions = (address: QueueAddress): RedisOptions => ({
  host: address.host,
  port: address.port,
  db: address.db,
  username: address.username,
  password: address.password,
  // A certificate names hosts; an address has no name to ask for.
  ...(address.isTls ? { tls: isIP(address.host) === 0 ? { servername: address.host } : {} } : {}),
  maxRetriesPerRequest: null,
  connectTimeout: CONNECT_MS,
  // From a connection that is silent a new one is made: that the last one failed says nothing of the next.
  socketTimeout: SILENT_MS,
  retryStrategy: (times) => Math.min(50 * times, 1000),
  lazyConnect: true,
});

/** For BullMQ, which makes its own connections of it. */
export const queueConnection = (address: QueueAddress): ConnectionOptions =>
  ({
    ...redisOptions(address),
    socketTimeout: SILENT_BULLMQ_MS,
    lazyConnect: false,
  }) as ConnectionOptions;

/** A connection that works, or what is wrong with the address. A Redis that is just being started gets a moment. */
export async function connect(packages: Packages, address: QueueAddress): Promise<Client> {
  for (const until = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    try {
      return await tryConnect(packages, address);
    } catch (error) {
      const isRefused =
        (error as { code?: string }).code === 'ECONNREFUSED' || LOST.test((error as Error).message);
      if (!isRefused || Date.now() > until) throw unreachable(address, error as Error);
    }
  }
}

async function tryConnect({ Redis }: Packages, address: QueueAddress): Promise<Client> {
  const redis = new Redis({
    ...redisOptions(address),
    retryStrategy: () => null,
    enableAutoPipelining: true,
  });
  let why: Error | undefined;
  const tooLong = setTimeout(() => {
    why = new Error(
      `what is there took the connection and said nothing for ${CONNECT_MS / 1000} s`,
    );
    redis.stream?.destroy();
    redis.disconnect();
  }, CONNECT_MS);
  redis.on('error', (error: Error) => {
    why = error;
  });
  try {
    await redis.connect();
    await redis.ping();
    // A database that is not there is said on the side, and the first one is used in its place.
    if (why !== undefined) throw why;
  } catch (error) {
    redis.disconnect();
    throw why ?? error;
  } finally {
    clearTimeout(tooLong);
  }
  // From here on a connection that is lost is made again.
  redis.options.retryStrategy = (times) => Math.min(50 * times, 1000);
  for (const [name, script] of Object.entries(SCRIPTS)) redis.defineCommand(name, script);
  return redis as Client;
}

/** What Node says of a certificate that no authority it knows has issued, that is for another host, or whose time is over. */
const UNTRUSTED =
  /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|ERR_TLS_CERT_ALTNAME|self-signed|certificate/i;

function unreachable(address: QueueAddress, error: Error): UserError {
  const at = addressText(address);
  const { message } = error;
  if (/NOAUTH|WRONGPASS|NOPERM|invalid username-password|Authentication/i.test(message))
    return new UserError('QUEUE_REFUSED', `the Redis at ${at} does not let us in: ${message}`, {
      hint:
        address.password === undefined
          ? `Set ${PASSWORD_VARIABLE}${address.username === undefined ? `, and ${USERNAME_VARIABLE} if there is one` : ''}.`
          : `${PASSWORD_VARIABLE} is set, and what it says is not accepted${address.username === undefined ? ` (without ${USERNAME_VARIABLE})` : ` for the user in ${USERNAME_VARIABLE}`}. Correct it, or what the Redis allows this user.`,
    });
  // What the parser of the protocol says of a first byte that no Redis sends.
  if (/Unknown RESP type|reply type byte|Protocol error/i.test(message))
    return new UserError('QUEUE_UNREACHABLE', `what answers at ${at} is not a Redis`, {
      hint: address.isTls
        ? 'Correct the host and port of --queue.'
        : 'Correct the host and port of --queue; a port that speaks TLS needs rediss://.',
    });
  if (/DB index is out of range/i.test(message))
    return new UserError('QUEUE_ADDRESS', `the Redis at ${at} has no database ${address.db}`, {
      hint: 'Most have 0 to 15. Leave the number out of --queue, or let the Redis have more ("databases" of its configuration).',
    });
  if (address.isTls && UNTRUSTED.test(`${(error as { code?: string }).code} ${message}`))
    return new UserError(
      'QUEUE_UNTRUSTED',
      `the certificate of the Redis at ${at} cannot be trusted: ${message}`,
      {
        hint: 'Name the file of the authority that issued it: NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
      },
    );
  return new UserError(
    'QUEUE_UNREACHABLE',
    `there is no Redis at ${at}: ${message || (error as { code?: string }).code}`,
    {
      hint: address.isTls
        ? 'Correct --queue; rediss:// is for a port that speaks TLS.'
        : 'Start one (redis-server), or correct --queue; a port that speaks TLS needs rediss://.',
    },
  );
}

/** BullMQ asks for it again and again where the user may not, and takes no job. */
async function refuseSecrecy(redis: Client): Promise<void> {
  try {
    await redis.info('server');
  } catch (error) {
    if (!/NOPERM/.test((error as Error).message)) throw error;
    throw new UserError(
      'QUEUE_REFUSED',
      `the user of the Redis may not use the command INFO: ${(error as Error).message}`,
      {
        hint: 'Allow it: ACL SETUSER name +info.',
      },
    );
  }
}

/** A Redis that no queue can be kept in. What cannot be seen of it is told by a note. */
export async function refuseUnfit(redis: Client): Promise<string | undefined> {
  await refuseSecrecy(redis);
  return refuseEviction(redis);
}

/** A Redis that throws data away when it is full would lose work without a word. */
async function refuseEviction(redis: Client): Promise<string | undefined> {
  let policy: string | undefined;
  try {
    const reply = (await redis.config('GET', 'maxmemory-policy')) as string[];
    policy = reply[1];
  } catch {
    return 'whether this Redis throws data away when it is full cannot be seen (CONFIG is not allowed): set maxmemory-policy to noeviction';
  }
  if (policy === undefined || policy === 'noeviction') return undefined;
  throw new UserError(
    'QUEUE_EVICTS',
    `this Redis throws data away when it is full (maxmemory-policy ${policy}), so results could be lost`,
    {
      hint: 'Set maxmemory-policy to noeviction, or use another Redis.',
    },
  );
}

/** Whether a Redis that is there cannot work at the moment. */
export const isRefusal = ({ message }: Error): boolean => REFUSES.test(message);

export type Steadily = <T>(action: () => Promise<T>) => Promise<T>;

interface Steadiness {
  /** Asked before each further try. */
  readonly isGivenUp?: () => boolean;
  /** Told of every time that Redis was there and refused. */
  readonly onRefusal?: (error: Error) => void;
}

/** Does something again that a lost connection cut off, or that Redis cannot do at the moment. It must be something that may be done twice. */
export async function steadily<T>(action: () => Promise<T>, about: Steadiness = {}): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      const why = error as Error;
      const isRefused = isRefusal(why);
      if (isRefused) about.onRefusal?.(why);
      if (!(isRefused || LOST.test(why.message)) || about.isGivenUp?.()) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
