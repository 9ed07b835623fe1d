import { describe, expect, it } from 'vitest';
import { RecordedServers } from './recorded-servers.ts';

const recorded = (names: readonly string[], own: readonly string[] = []) =>
  new RecordedServers({
    entries: names.map((provider) => ({ provider })) as never,
    providers: Object.fromEntries(
      [...names, ...own].map((name) => [name, own.includes(name) ? { set: true } : {}]),
    ),
  });
const always = () => true;
const never = () => false;

describe('the recorded server of an address', () => {
  it.each([
    ['a provider is itself', recorded(['@localhost:1']), 'openai', always, 'openai'],
    [
      'one gateway under the name of another provider, which has the answer',
      recorded(['openai'], ['openai']),
      'anthropic',
      (name: string) => name === 'openai',
      'openai',
    ],
    [
      'no gateway for a provider that has the answer itself',
      recorded(['openai', 'anthropic'], ['openai', 'anthropic']),
      'anthropic',
      always,
      'anthropic',
    ],
    [
      'no gateway of two that could both answer',
      recorded(['openai', 'groq'], ['openai', 'groq']),
      'anthropic',
      (name: string) => name !== 'anthropic',
      'anthropic',
    ],
    [
      'no other provider at its own address',
      recorded(['openai']),
      'groq',
      (name: string) => name === 'openai',
      'groq',
    ],
    [
      'one that was recorded is itself',
      recorded(['@localhost:1', '@localhost:2']),
      '@localhost:2',
      never,
      '@localhost:2',
    ],
    [
      'the only one of this machine, at another port',
      recorded(['@localhost:1']),
      '@localhost:9',
      always,
      '@localhost:1',
    ],
    [
      'the only one, to say what differs',
      recorded(['@localhost:1']),
      '@localhost:9',
      never,
      '@localhost:1',
    ],
    [
      'none of two that could both answer',
      recorded(['@localhost:1', '@localhost:2']),
      '@localhost:9',
      always,
      '@localhost:9',
    ],
    [
      'the one of two that can answer',
      recorded(['@localhost:1', '@localhost:2']),
      '@localhost:9',
      (name: string) => name === '@localhost:2',
      '@localhost:2',
    ],
    [
      'none for another host',
      recorded(['@gateway.example']),
      '@other.example',
      always,
      '@other.example',
    ],
    [
      'none of this machine for another host',
      recorded(['@localhost:1']),
      '@other.example',
      always,
      '@other.example',
    ],
    [
      'the provider at an address of the user’s own',
      recorded(['openai'], ['openai']),
      '@other.example',
      always,
      'openai',
    ],
    [
      'none of two providers at addresses of the user’s own',
      recorded(['openai', 'anthropic'], ['openai', 'anthropic']),
      '@other.example',
      always,
      '@other.example',
    ],
    [
      'none where the user’s own could answer too',
      recorded(['openai', '@localhost:1'], ['openai']),
      '@localhost:9',
      always,
      '@localhost:9',
    ],
  ])('%s', (_, servers, asked, has, name) => {
    expect(servers.nameOf(asked, has)).toBe(name);
  });

  it('is the name of the provider if the user had set that address', () => {
    const servers = new RecordedServers({
      entries: [{ provider: 'openai' }, { provider: '@localhost:1' }] as never,
      providers: { openai: { set: true, at: 'localhost:5' }, '@localhost:1': {} },
    });
    expect(servers.nameOf('@localhost:5', always)).toBe('openai');
  });

  it('is the other of its two names if only that one has the answer', () => {
    const servers = new RecordedServers({
      entries: [{ provider: 'openai' }, { provider: '@localhost:5' }] as never,
      providers: { openai: { set: true, at: 'localhost:5' }, '@localhost:5': {} },
    });
    const uri = 'http://127.0.0.1:5/v1/chat/completions';
    for (const answers of ['openai', '@localhost:5'])
      for (const asked of ['openai', '@localhost:5'])
        expect(servers.nameOf(asked, (name) => name === answers, uri)).toBe(answers);
  });

  it('is found by its address if a variable now names it', () => {
    const uri = 'http://localhost:1/v1/chat/completions';
    expect(recorded(['@localhost:1']).nameOf('openai', never, uri)).toBe('@localhost:1');
    expect(recorded(['@localhost:2']).nameOf('openai', always, uri)).toBe('openai');
  });

  it('gets what it says stored under its recorded name, once it is known', () => {
    const servers = recorded(['@localhost:1']);
    expect(servers.nameToStore('@localhost:8')).toBe('@localhost:8');
    servers.nameOf('@localhost:8', always);
    expect(servers.nameToStore('@localhost:8')).toBe('@localhost:1');
    const other = recorded(['@localhost:1']);
    other.noteUse('@localhost:1');
    other.nameOf('@localhost:8', always);
    expect(other.nameToStore('@localhost:8')).toBe('@localhost:8');
  });

  it('is the same for all its calls, and of no other address', () => {
    const servers = recorded(['@localhost:1', '@localhost:2']);
    expect(servers.nameOf('@localhost:8', (name) => name === '@localhost:1')).toBe('@localhost:1');
    expect(servers.nameOf('@localhost:9', always)).toBe('@localhost:2');
    expect(servers.nameOf('@localhost:8', (name) => name === '@localhost:2')).toBe('@localhost:1');
    expect(servers.nameOf('@localhost:7', always)).toBe('@localhost:7');
  });
});
