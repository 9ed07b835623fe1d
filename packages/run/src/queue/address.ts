import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';

/** Address and credentials of a Redis. */
export interface QueueAddress {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export const USERNAME_VARIABLE = 'AGENTCI_QUEUE_USERNAME';
export const PASSWORD_VARIABLE = 'AGENTCI_QUEUE_PASSWORD';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads `redis://host:port/db`. Credentials come only from the environment, because every user of
 * the machine can see a command line.
 */
export function parseQueueAddress(text: string, env: Env): QueueAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    (url.protocol !== 'redis:' && url.protocol !== 'rediss:') ||
    url.hostname === ''
  )
    throw new UserError('OPTION_INVALID', '--queue is not the address of a Redis', {
      hint: 'Write redis://host:6379, or rediss://host:6379 for TLS; /2 at the end chooses database 2.',
    });
  if (url.username !== '' || url.password !== '')
    throw new UserError(
      'QUEUE_REFUSED',
      '--queue contains credentials, which every process of the machine can see',
      {
        hint: `Leave them out and set ${PASSWORD_VARIABLE} (and ${USERNAME_VARIABLE}, if there is one).`,
      },
    );
  const db = url.pathname.replace(/^\//, '');
  if (!/^\d{0,4}$/.test(db) || url.search !== '' || url.hash !== '')
    throw new UserError(
      'OPTION_INVALID',
      '--queue has more than a host, a port and the number of a database',
      {
        hint: 'Write redis://host:6379/0.',
      },
    );
  const password = env[PASSWORD_VARIABLE] || undefined;
  if (password !== undefined) SECRETS.add([{ name: PASSWORD_VARIABLE, value: password }]);
  return {
    // Only in a URL is an IPv6 address in brackets.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    db: Number(db || 0),
    isTls: url.protocol === 'rediss:',
    username: env[USERNAME_VARIABLE] || undefined,
    password,
  };
}

export const addressText = ({ host, port, db, isTls }: QueueAddress): string =>
  `${isTls ? 'rediss' : 'redis'}://${host.includes(':') ? `[${host}]` : host}:${port}${db === 0 ? '' : `/${db}`}`;
