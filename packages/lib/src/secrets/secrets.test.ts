import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SecretMask, secretsIn } from './secrets.ts';

const KEY = 'sk-live/4f+9"a\\b c';
const maskOf = (...secrets: [string, string][]): SecretMask => {
  const mask = new SecretMask();
  mask.add(secrets.map(([name, value]) => ({ name, value })));
  return mask;
};

describe('which environment values are secret', () => {
  test.each([
    'OPENAI_API_KEY',
    'OPENAIKEY',
    'apiKey',
    'GITHUB_TOKEN',
    'githubToken',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_ACCESS_KEY_ID',
    'DB_PASSWORD',
    'PGPASSWORD',
    'MYSQL_PWD',
    'SSH_PASSPHRASE',
    'GOOGLE_CREDENTIALS',
    'GH_PAT',
    'npm_config__authToken',
    'DB_PASS',
    'DBPASS',
    'AUTHORIZATION',
    'HTTP_AUTHORIZATION',
    'BEARER',
    'JWT',
    'SESSION_JWT',
    'NPM_AUTH',
    'SIGNING_PRIVATE',
    'CREDENTIAL',
  ])('%s', (name) => {
    expect(secretsIn({ [name]: 'abcdef123456' })).toEqual([{ name, value: 'abcdef123456' }]);
  });

  test.each([
    { PATH: '/usr/bin:/bin' },
    { PWD: '/home/someone/project' },
    { OLDPWD: '/home/someone/project' },
    { MAX_TOKENS: '1000000000' },
    { TOKENIZERS_PARALLELISM: 'false-ish-value' },
    { SECRET_FILE: '/run/secrets/key' },
    { TOKEN_URL: 'https://example.com/token' },
    { KEYCLOAK_REALM: 'customers' },
    { MONKEYS: '' },
    { SSH_AUTH_SOCK: '/run/user/1000/agent.socket' },
    { AUTH_PROVIDER: 'some-provider' },
    { BYPASS: 'some-value-here' },
    { AUTHOR_EMAIL: 'somebody@example.com' },
    { API_KEY: 'short' },
    { API_KEY: undefined },
    { API_TOKEN: '12345678' },
  ])('not %j', (env) => {
    expect(secretsIn(env)).toEqual([]);
  });

  test.each(['1', 'true', 'localhost', 'Production', 'password', 'abcde'])(
    'the value %s is never masked',
    (value) => {
      expect(maskOf(['NAME', value]).text(`it is ${value} here`)).toBe(`it is ${value} here`);
    },
  );
});

describe('a secret is found', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  test.each([
    { how: 'as it is', text: `x ${KEY} y` },
    { how: 'twice', text: `${KEY}${KEY}` },
    { how: 'in JSON', text: JSON.stringify({ key: KEY }) },
    { how: 'in JSON inside JSON', text: JSON.stringify({ args: JSON.stringify({ key: KEY }) }) },
    { how: 'in a URL', text: `https://x/?k=${encodeURIComponent(KEY)}` },
    { how: 'in Base64', text: base64(KEY) },
    { how: 'in Base64 after a name', text: `Basic ${base64(`user:${KEY}`)}` },
    { how: 'in Base64 after a longer name', text: `Basic ${base64(`userr:${KEY}`)}` },
    { how: 'in Base64 after a still longer name', text: `Basic ${base64(`userrr:${KEY}`)}` },
    { how: 'in Base64 for URLs', text: Buffer.from(KEY).toString('base64url') },
    { how: 'in hexadecimal digits', text: `x ${Buffer.from(KEY).toString('hex')} y` },
    {
      how: 'in capital hexadecimal digits',
      text: `a${Buffer.from(`user:${KEY}!`).toString('hex').toUpperCase()}`,
    },
  ])('$how', ({ text }) => {
    const shown = maskOf(['KEY', KEY]).text(text);
    expect(shown).toContain('[KEY]');
    expect(shown).not.toContain('live');
    expect(shown).not.toContain(base64(KEY).slice(4, 16));
  });

  const HARD = `a b/c+d&e='f'(1)!*ä~"\\x`;
  const quoted = [...HARD]
    .map((c) =>
      /[\w/~-]/.test(c) ? c : [...Buffer.from(c)].map((byte) => `%${byte.toString(16)}`).join(''),
    )
    .join('');
  const json = (text: string): string => JSON.stringify(text).slice(1, -1);
  const ascii = (text: string): string =>
    json(text).replace(
      /[\u0080-\uffff]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  test.each([
    { how: 'as Python quotes it', text: quoted },
    {
      how: 'with every byte quoted',
      text: [...Buffer.from(HARD)].map((b) => `%${b.toString(16).padStart(2, '0')}`).join(''),
    },
    { how: 'in capital digits', text: encodeURIComponent(HARD) },
    { how: 'in a URL that keeps some characters', text: encodeURI(HARD) },
    { how: 'in a web form', text: `k=${new URLSearchParams({ k: HARD })}` },
    { how: 'in JSON of ASCII characters only', text: ascii(HARD) },
    { how: 'in JSON with slashes escaped', text: json(HARD).replaceAll('/', '\\/') },
    { how: 'in three levels of JSON', text: json(json(ascii(HARD))) },
    { how: 'in JSON in a URL', text: encodeURIComponent(json(HARD)) },
    {
      how: 'in HTML',
      text: HARD.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('"', '&quot;'),
    },
    { how: 'between other escapes', text: `\\n%20${quoted}\\t100%` },
  ])('$how', ({ text }) => {
    const mask = maskOf(['KEY', HARD]);
    const shown = mask.text(`>${text}<`);
    expect(shown).toMatch(/^>(?:\\n%20|k=k=)?\[KEY\](?:\\t100%)?<$/);
    let written = '';
    const { write, flush } = mask.pieces((piece) => {
      written += piece;
    });
    for (const piece of `>${text}<`) write(piece);
    flush();
    expect(written).toBe(shown);
  });

  test('not in documents, whose own words may equal it, nor inside of a user’s name', () => {
    const mask = maskOf(
      ['A', 'results'],
      ['B', 'agent007'],
      ['C', 'not_measured'],
      ['D', 'r2d2-c3po'],
    );
    mask.spare(['my-agent007']);
    expect(mask.document('{"results":"agent007 not_measured r2d2-c3po"}')).toBe(
      '{"results":"agent007 not_measured [D]"}',
    );
    expect(mask.text('results agent007 not_measured')).toBe('[A] [B] [C]');
  });

  test('line by line, when it has several', () => {
    const pem =
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAQEFAASCBKcwggSjAgEAAoIB\n-----END PRIVATE KEY-----\n';
    const mask = maskOf(['PEM', pem]);
    expect(mask.text('the line AQEFAASCBKcwggSjAgEAAoIB of it')).toBe('the line [PEM] of it');
    expect(mask.text(JSON.stringify(pem))).toBe('"[PEM]\\n"');
    expect(mask.text('-----BEGIN PRIVATE KEY-----')).toContain('BEGIN');
  });

  test('whole, when another one begins like it', () => {
    const mask = maskOf(['A', 'sk-12345'], ['B', 'sk-12345-and-more']);
    expect(mask.text('sk-12345-and-more sk-12345')).toBe('[B] [A]');
  });

  test('anywhere in a value, keys included, and a value without it stays the same object', () => {
    const mask = maskOf(['KEY', KEY]);
    expect(mask.value({ a: [{ [KEY]: 1 }, `x${KEY}`], b: 2 })).toEqual({
      a: [{ '[KEY]': 1 }, 'x[KEY]'],
      b: 2,
    });
    const clean = { a: [1, 'x'], b: null };
    expect(mask.value(clean)).toBe(clean);
  });
});

test('a text in pieces is masked however it is cut, and nothing of it is lost', () => {
  const secrets = ['sk-aaab1234', 'aab12345', 'zzz9zzzz'];
  const mask = maskOf(['A', secrets[0]!], ['B', secrets[1]!], ['Z', secrets[2]!]);
  const part = fc.oneof(
    fc.constantFrom(...secrets, 'sk-', 'sk-aa', 'zzz', ' '),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }),
      fc.array(fc.nat(9), { maxLength: 30 }),
      (parts, cuts) => {
        const text = parts.join('');
        let written = '';
        const { write, flush } = mask.pieces((piece) => {
          written += piece;
        });
        let at = 0;
        for (const length of cuts) {
          write(text.slice(at, at + length));
          at += length;
        }
        write(text.slice(at));
        flush();
        for (const secret of secrets) expect(written).not.toContain(secret);
        if (!secrets.some((secret) => text.includes(secret))) expect(written).toBe(text);
      },
    ),
    { numRuns: 2000 },
  );
});

test('scans nothing if there are no secrets', () => {
  const mask = new SecretMask();
  const text = `${'x'.repeat(20_000_000)}`;
  const started = performance.now();
  for (let i = 0; i < 1000; i++) mask.text(text);
  expect(performance.now() - started).toBeLessThan(2_000);
});

describe('a document stays a document', () => {
  test('a password of digits is masked in texts and leaves numbers alone', () => {
    const mask = maskOf(['DB_PASSWORD', '12345678']);
    const masked = mask.value({ text: 'pin 12345678', at: 17000123456789 });
    expect(masked).toEqual({ text: 'pin [DB_PASSWORD]', at: 17000123456789 });
    expect(JSON.parse(mask.document(JSON.stringify(masked)))).toEqual(masked);
  });

  test('credentials that are an object leave a text in its place, and their parts are secret too', () => {
    const credentials = { type: 'service_account', private_key: 'MIIEvQIBADANBgkqhkiG9w0BAQEF' };
    const mask = maskOf(['GOOGLE_CREDENTIALS', JSON.stringify(credentials)]);
    expect(JSON.parse(mask.document(JSON.stringify({ used: credentials })))).toEqual({
      used: '[GOOGLE_CREDENTIALS]',
    });
    expect(
      JSON.parse(mask.document(JSON.stringify({ text: JSON.stringify(credentials) }))),
    ).toEqual({
      text: '[GOOGLE_CREDENTIALS]',
    });
    expect(mask.text(`key ${credentials.private_key}`)).toBe('key [GOOGLE_CREDENTIALS]');
  });

  test('a name with odd characters does not end a text', () => {
    expect(JSON.parse(maskOf(['MY"KEY', 'abcdef123456']).document('{"a":"abcdef123456"}'))).toEqual(
      { a: '[MY_KEY]' },
    );
  });
});
