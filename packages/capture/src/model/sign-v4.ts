import { createHash, createHmac } from 'node:crypto';
import { defined } from '@agentci/lib/data';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Credentials in environment variables. Those of profiles and roles are not accessible. */
export function awsCredentials(env: Env): AwsCredentials | undefined {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: token,
  } = env;
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: token || undefined };
}

/**
 * Whether a request was signed. Its signature covers the address of the front and is invalid
 * elsewhere.
 */
export const isSigned = (authorization: string | undefined): boolean =>
  authorization?.startsWith('AWS4-HMAC-SHA256') ?? false;

/** The region and service that a signature names. */
function scopeOf(authorization: string): { region: string; service: string } | undefined {
  const [, region, service] =
    /Credential=[^/]+\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request/.exec(authorization) ?? [];
  return region === undefined || service === undefined ? undefined : { region, service };
}

const OLD: ReadonlySet<string> = new Set([
  'authorization',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
]);

/** Signs the headers of a request again for its real address. Undefined for other signatures. */
export function signAgain(
  raw: readonly string[],
  {
    method,
    target,
    body,
    credentials,
    now,
  }: {
    readonly method: string;
    readonly target: URL;
    readonly body: Buffer;
    readonly credentials: AwsCredentials;
    readonly now: number;
  },
): string[] | undefined {
  const kept: string[] = [];
  let authorization = '';
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    if (name === 'authorization') authorization = raw[i + 1]!;
    if (!OLD.has(name)) kept.push(raw[i]!, raw[i + 1]!);
  }
  const scope = scopeOf(authorization);
  if (scope === undefined) return undefined;
  const stamp = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const day = stamp.slice(0, 8);
  const hash = sha256(body);
  const contentType =
    kept[kept.findIndex((value, i) => i % 2 === 0 && value.toLowerCase() === 'content-type') + 1];
  const signed: Record<string, string> = defined({
    'content-type': contentType?.trim(),
    host: target.host,
    'x-amz-content-sha256': hash,
    'x-amz-date': stamp,
    'x-amz-security-token': credentials.sessionToken,
  });
  const names = Object.keys(signed).sort();
  const canonical = [
    method,
    ...canonicalAddress(target),
    ...names.map((name) => `${name}:${signed[name]}`),
    '',
    names.join(';'),
    hash,
  ];
  const area = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', stamp, area, sha256(canonical.join('\n'))].join('\n');
  const key = signingKey([day, scope.region, scope.service, 'aws4_request'], credentials);
  const signature = hmac(key, text).toString('hex');
  const credential = `${credentials.accessKeyId}/${area}`;
  return [
    ...kept,
    ...['x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'].flatMap((name) =>
      signed[name] === undefined ? [] : [name, signed[name]],
    ),
    'authorization',
    `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  ];
}

const signingKey = (parts: readonly string[], credentials: AwsCredentials): string | Buffer =>
  parts.reduce<string | Buffer>(
    (before, part) => hmac(before, part),
    `AWS4${credentials.secretAccessKey}`,
  );

function canonicalAddress(target: URL): readonly [path: string, query: string] {
  const query = [...target.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
  // Every service but S3 encodes its path a second time.
  const path = target.pathname.split('/').map(encoded).join('/');
  return [path, query];
}

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
