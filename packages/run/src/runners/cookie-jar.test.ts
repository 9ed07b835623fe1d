import { describe, expect, test } from 'vitest';
import { CookieJar } from './cookie-jar.ts';

const FROM = 'https://shop.example.com/api/chat';

describe('cookies of a conversation', () => {
  test.each([
    {
      what: 'to the folder it came from',
      line: 'a=1',
      to: 'https://shop.example.com/api/other',
      sent: true,
    },
    {
      what: 'to nothing above that folder',
      line: 'a=1',
      to: 'https://shop.example.com/login',
      sent: false,
    },
    { what: 'to its path', line: 'a=1; Path=/api/chat', to: FROM, sent: true },
    {
      what: 'to a path below its path',
      line: 'a=1; Path=/api',
      to: 'https://shop.example.com/api/x/y',
      sent: true,
    },
    {
      what: 'to no path that only begins alike',
      line: 'a=1; Path=/api',
      to: 'https://shop.example.com/apiary',
      sent: false,
    },
    { what: 'to no other path', line: 'a=1; Path=/admin', to: FROM, sent: false },
    {
      what: 'everywhere with the path /',
      line: 'a=1; Path=/',
      to: 'https://shop.example.com/x',
      sent: true,
    },
    {
      what: 'to its folder where the path is not one',
      line: 'a=1; Path=api',
      to: FROM,
      sent: true,
    },
    {
      what: 'to no other host',
      line: 'a=1; Path=/',
      to: 'https://other.example.com/',
      sent: false,
    },
    {
      what: 'to no host below',
      line: 'a=1; Path=/',
      to: 'https://a.shop.example.com/',
      sent: false,
    },
    {
      what: 'to hosts of its domain',
      line: 'a=1; Path=/; Domain=.example.com',
      to: 'https://b.example.com/',
      sent: true,
    },
    {
      what: 'to no host if the domain is foreign',
      line: 'a=1; Path=/; Domain=evil.org',
      to: FROM,
      sent: false,
    },
    {
      what: 'to no host if the domain is a whole suffix',
      line: 'a=1; Path=/; Domain=com',
      to: FROM,
      sent: false,
    },
    { what: 'over TLS if it is secure', line: 'a=1; Secure', to: FROM, sent: true },
    {
      what: 'not without TLS if it is secure',
      line: 'a=1; Path=/; Secure',
      to: 'http://shop.example.com/',
      sent: false,
    },
    { what: 'while it lasts', line: 'a=1; Max-Age=60', to: FROM, sent: true },
    { what: 'no longer if its age is 0', line: 'a=1; Max-Age=0', to: FROM, sent: false },
    {
      what: 'no longer once it expired',
      line: 'a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      to: FROM,
      sent: false,
    },
    {
      what: 'by its age if both are given',
      line: 'a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      to: FROM,
      sent: true,
    },
    { what: 'if its age is invalid', line: 'a=1; Max-Age=soon', to: FROM, sent: true },
    { what: 'in no case without a name', line: '=1', to: FROM, sent: false },
  ])('one is sent $what', ({ line, to, sent }) => {
    const jar = new CookieJar(() => 1_000_000);
    jar.keep([line], FROM);
    expect(jar.headerFor(to)).toBe(sent ? 'a=1' : undefined);
  });

  test('one runs out while the conversation lasts', () => {
    let now = 0;
    const jar = new CookieJar(() => now);
    jar.keep(['a=1; Max-Age=5'], FROM);
    expect(jar.headerFor(FROM)).toBe('a=1');
    now = 6000;
    expect(jar.headerFor(FROM)).toBeUndefined();
  });

  test('one is replaced by its name and path, and the longer path comes first', () => {
    const jar = new CookieJar();
    jar.keep(['a=1; Path=/', 'a=2; Path=/api', 'a=3; Path=/'], FROM);
    expect(jar.headerFor(FROM)).toBe('a=2; a=3');
    jar.keep(['a=x; Path=/api; Max-Age=0'], FROM);
    expect(jar.headerFor(FROM)).toBe('a=3');
  });

  test.each([
    { address: 'http://127.0.0.1:8080/', isKept: true },
    { address: 'http://127.0.0.2/', isKept: true },
    { address: 'http://localhost:8080/', isKept: true },
    { address: 'http://LOCALHOST/', isKept: true },
    { address: 'http://app.localhost/', isKept: true },
    { address: 'http://[::1]:8080/', isKept: true },
    { address: 'https://shop.example.com/', isKept: true },
    { address: 'http://shop.example.com/', isKept: false },
    { address: 'http://192.168.0.2/', isKept: false },
    { address: 'http://0.0.0.0/', isKept: false },
    { address: 'http://127.0.0.1.example.com/', isKept: false },
    { address: 'http://localhost.example.com/', isKept: false },
    { address: 'http://notlocalhost/', isKept: false },
    { address: 'http://[::2]/', isKept: false },
  ])('a secure cookie of $address is kept: $isKept', ({ address, isKept }) => {
    const jar = new CookieJar();
    jar.keep(['a=1; Secure; HttpOnly; SameSite=None; Path=/'], address);
    expect(jar.headerFor(address)).toBe(isKept ? 'a=1' : undefined);
    jar.keep(['b=2; Path=/', `a=2; Domain=${new URL(address).hostname}; Path=/; Secure`], address);
    expect(jar.headerFor(address)?.includes('a=2') ?? false).toBe(isKept);
  });
});
