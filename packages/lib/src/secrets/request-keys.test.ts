import { expect, test } from 'vitest';
import { rememberFields, rememberKeys } from './request-keys.ts';
import { maskText } from './secrets.ts';

type Request = Parameters<typeof rememberKeys>[0];

test.each([
  ['no scheme', { authorization: 'FILEKEYSECRET-aaaa-bbbb' }, '/', 'FILEKEYSECRET-aaaa-bbbb'],
  ['a scheme of its own', { authorization: 'Key ownSchemeSecret1' }, '/', 'ownSchemeSecret1'],
  [
    'Basic',
    { authorization: `Basic ${Buffer.from('u:BASICSECRETpw').toString('base64')}` },
    '/',
    'BASICSECRETpw',
  ],
  ['x-api-key', { 'x-api-key': 'XAPISECRETaaaabbbb' }, '/', 'XAPISECRETaaaabbbb'],
  [
    'a header of a gateway',
    { 'x-portkey-api-key': 'portkeySecretValue' },
    '/',
    'portkeySecretValue',
  ],
  ['a cookie', { cookie: 'a=1; session=cookieSecretValue' }, '/', 'cookieSecretValue'],
  ['api-key in the address', {}, '/x?api-key=QKSECRETaaaa', 'QKSECRETaaaa'],
  ['sig in the address', {}, '/x?sig=SIGSECRETaa', 'SIGSECRETaa'],
  ['access_token in the address', {}, '/x?access_token=ATSECRETaa', 'ATSECRETaa'],
])('a key that a request sent as %s is masked in files', (_, headers, url, key) => {
  rememberKeys({ headers, url } as unknown as Request);
  expect(maskText(`{"echo":"your key ${key}"}`)).not.toContain(key);
});

test('a word in place of a key, such as ollama, does not hide that word', () => {
  rememberKeys({ headers: { authorization: 'Bearer ollama' }, url: '/' } as unknown as Request);
  expect(maskText('{"provider":"ollama"}')).toBe('{"provider":"ollama"}');
});

test('a key in a field of a body is masked in files, but not the input of a tool', () => {
  rememberFields('{"api_key":"bodyKey-aa11","authorization":"Bearer bodyToken-bb22"}');
  rememberFields('{"messages":[{"content":[{"input":{"password":"toolword-cc33"}}]}]}');
  expect(maskText('{"a":"bodyKey-aa11 bodyToken-bb22 toolword-cc33"}')).toBe(
    '{"a":"[api_key] [authorization] toolword-cc33"}',
  );
});
