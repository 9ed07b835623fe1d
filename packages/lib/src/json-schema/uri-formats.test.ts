import { describe, expect, test } from 'vitest';
import { compileJsonSchema } from './json-schema.ts';
import { unknownWords } from './json-schema-words.ts';
import { isHostname, isUri, isUriReference } from './uri-formats.ts';

describe('hostname', () => {
  test.each([
    'www.example.com',
    'xn--4gbwdl.xn--wgbh1c',
    'hostname',
    'host-name',
    '1host',
    'a'.repeat(63),
  ])('%s', (name) => {
    expect(isHostname(name)).toBe(true);
  });

  test.each([
    '',
    '.',
    'example.',
    '.example',
    '-host',
    'host-',
    'host_name',
    'a'.repeat(64),
    'ex\uff0eample',
    'xn--X',
    'xn--hello-zed',
    'xn--al-0ea',
    'xn--vek',
    'XN--aa---o47jg78q',
    'ab--cd.com',
  ])('%j is none', (name) => {
    expect(isHostname(name)).toBe(false);
  });
});

describe('uri', () => {
  test.each([
    'http://foo.bar/?baz=qux#quux',
    "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
    'ldap://[2001:db8::7]/c=GB?objectClass?one',
    'mailto:John.Doe@example.com',
    'urn:oasis:names:specification:docbook:dtd:xml:4.1.2',
    'http://[v1.fe80::a]:80/',
  ])('%s', (text) => {
    expect([isUri(text), isUriReference(text)]).toEqual([true, true]);
  });

  test.each(['//foo.bar/x', '/abc', 'abc', '#part', ''])(
    '%j is one only relative to another',
    (text) => {
      expect([isUri(text), isUriReference(text)]).toEqual([false, true]);
    },
  );

  test.each([
    'http:// shouldfail.com',
    '\\\\WINDOWS\\fileshare',
    'http://example.com:abc/',
    'https://[@example.org/test.txt',
    'https://example.org/foo bar.txt',
    'https://example.org/{}',
    '//a@b@example.com/',
    'http://[::ffff:01.2.3.4]',
    'http:/[::1]',
    '1:b',
    'http://exa%zz.com',
    'http://example.org/é',
  ])('%j is none', (text) => {
    expect([isUri(text), isUriReference(text)]).toEqual([false, false]);
  });
});

test('a schema of draft 7 ignores a name next to a reference', () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'http://localhost:1234/base/',
    definitions: {
      foo: { $id: 'http://localhost:1234/sibling/foo.json', type: 'string' },
      baseFoo: { $id: 'foo.json', type: 'number' },
    },
    allOf: [{ $id: 'http://localhost:1234/sibling/', $ref: 'foo.json' }],
  };
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok) throw new Error(compiled.message);
  expect([compiled.validate(1).valid, compiled.validate('a').valid]).toEqual([true, false]);
});

describe('formats of the validator', () => {
  test.each([
    {
      format: 'ipv4',
      good: ['1.2.3.4', '0.0.0.0', '255.255.255.255'],
      bad: ['01.2.3.4', '1.2.3', '1.2.3.256', '1.2.3.4.'],
    },
    {
      format: 'date-time',
      good: ['2026-01-02T03:04:05Z', '2026-01-02t03:04:05.5+01:00'],
      bad: ['2026-01-02 03:04:05Z', '2026-01-02', '2026-13-02T03:04:05Z'],
    },
    {
      format: 'iri',
      good: ['http://ƒøø.ßår/?∂éœ=πîx#πîüx', 'http://a.b/c'],
      bad: ['/abc', 'http://a b/', '\\\\WINDOWS\\x'],
    },
    { format: 'iri-reference', good: ['âππ', '#ƒrägmênt', '/âππ'], bad: ['#ƒräg\\mênt', 'a b'] },
    { format: 'idn-hostname', good: ['실례.테스트', 'hostname'], bad: ['〮실례.테스트', '-a-', ''] },
    {
      format: 'idn-email',
      good: ['실례@실례.테스트', 'joe@example.com'],
      bad: ['2962', '@a.b', 'a b@c.d'],
    },
  ])('$format', ({ format, good, bad }) => {
    const compiled = compileJsonSchema({ type: 'string', format });
    if (!compiled.ok) throw new Error(compiled.message);
    expect(good.filter((text) => !compiled.validate(text).valid)).toEqual([]);
    expect(bad.filter((text) => compiled.validate(text).valid)).toEqual([]);
    expect(unknownWords({ format })).toEqual([]);
  });

  test.each([
    {
      schema: { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } },
      message: '$anchor "x" is there twice',
    },
    { schema: { $defs: { a: { $id: 'y' }, b: { $id: 'y' } } }, message: '$id "y" is there twice' },
    {
      schema: { $defs: { a: { $id: 'https://a.b/y' }, b: { $id: 'https://a.b/y' } } },
      message: '$id "https://a.b/y" is there twice',
    },
  ])('a name that is there twice is refused: $message', ({ schema, message }) => {
    expect(compileJsonSchema(schema)).toMatchObject({ ok: false, message });
  });

  test('the same anchor in two resources is not a duplicate', () => {
    const schema = { $defs: { a: { $id: 'a', $anchor: 'x' }, b: { $id: 'b', $anchor: 'x' } } };
    expect(compileJsonSchema(schema).ok).toBe(true);
  });
});
