import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PLACES = [
  '/usr/bin/redis-server',
  '/usr/local/bin/redis-server',
  '/opt/homebrew/bin/redis-server',
];
const INSTALL_MS = 240_000;

/**
 * The system's Redis, installed by the package manager if possible. Otherwise the reason why it is
 * missing.
 */
export function findRedis(): { path: string } | { missing: string } {
  const given = process.env.AGENTCI_TEST_REDIS;
  const find = (): string | undefined =>
    [...(given ? [given] : []), ...PLACES].find((path) => existsSync(path));
  const found = find();
  if (found !== undefined) return { path: found };
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return {
      missing: 'redis-server is missing, and can only be installed as root with apt-get',
    };
  const apt = (args: string[]) =>
    spawnSync('apt-get', args, {
      timeout: INSTALL_MS,
      stdio: 'ignore',
      // Prevents the package from starting a service.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    });
  apt(['update', '-qq']);
  apt(['install', '-y', '-qq', '--no-install-recommends', 'redis-server']);
  const path = find();
  return path === undefined ? { missing: 'apt-get could not install redis-server' } : { path };
}

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Stops and restarts it. `SIGKILL` loses data that is not on disk. */
  readonly restart: (how: 'SIGTERM' | 'SIGKILL', downMs?: number) => Promise<void>;
  /** Stops answering, but keeps its connections. */
  readonly freeze: () => void;
  /** Resumes and handles the requests received in between. */
  readonly thaw: () => void;
  readonly stop: () => Promise<void>;
}

/**
 * Creates a certificate for this machine in a folder. Returns the arguments for a TLS-only Redis,
 * and the CA file.
 */
export function tlsFor(dir: string): {
  readonly args: (port: number) => string[];
  readonly authority: string;
} {
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')];
  const about = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const made = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate];
  const { status, stderr } = spawnSync('openssl', ['req', '-x509', ...made, ...about], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`openssl made no certificate: ${stderr}`);
  const files = [
    '--tls-cert-file',
    certificate,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    certificate,
  ];
  return {
    args: (port) => [
      '--port',
      '0',
      '--tls-port',
      String(port),
      '--tls-auth-clients',
      'no',
      ...files,
    ],
    authority: certificate,
  };
}

/** Starts a separate Redis on a free local port. */
export async function startRedis(
  path: string,
  more: readonly string[] | ((port: number) => readonly string[]) = [],
): Promise<RedisServer> {
  const port = await freePort();
  const args = typeof more === 'function' ? more(port) : more;
  const dir = mkdtempSync(join(tmpdir(), 'agentci-redis-'));
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(
      path,
      ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, ...args],
      {
        stdio: 'ignore',
      },
    );
    await untilOpen(port);
    return child;
  };
  let child = await start();
  const end = (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.kill(signal);
    });
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    restart: async (how, downMs = 0) => {
      await end(how);
      await sleep(downMs);
      child = await start();
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: async () => {
      await end('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function untilOpen(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = dial(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await sleep(20);
  }
}
