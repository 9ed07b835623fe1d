import { describe, expect, it } from 'vitest';
import { providerEnvironment, providersInUse } from './environment.ts';
import { providerOfHost } from './providers.ts';
import { targetOf } from './upstreams.ts';

const BASE = 'http://127.0.0.1:1/r/t';
const see = (env: Record<string, string>, choice = {}) => {
  const found = providersInUse(env, choice);
  return {
    ...providerEnvironment(BASE, found, env),
    upstreams: found.inUse.map(({ upstream }) => upstream),
  };
};

describe('environment of a captured agent', () => {
  it('sets all spellings of a provider whose key is there, and no other provider’s', () => {
    const { set } = see({ OPENAI_API_KEY: 'k' });
    expect(set).toEqual({
      OPENAI_BASE_URL: `${BASE}/llm/openai/v1`,
      OPENAI_API_BASE: `${BASE}/llm/openai/v1`,
      OPENAI_API_BASE_URL: `${BASE}/llm/openai/v1`,
      OPENAI_HOST: `${BASE}/llm/openai`,
    });
  });

  it('sets nothing without a key and an address', () => {
    expect(see({ PATH: '/bin', OPENAI_API_KEY: ' ' })).toEqual({
      set: {},
      notes: [],
      upstreams: [],
    });
  });

  it.each([
    ['openai', '/v1/chat/completions', 'https://api.openai.com/v1/chat/completions'],
    ['openai', '/chat/completions', 'https://api.openai.com/v1/chat/completions'],
    ['anthropic', '/v1/messages', 'https://api.anthropic.com/v1/messages'],
    ['anthropic', '/messages', 'https://api.anthropic.com/v1/messages'],
    [
      'gemini',
      '/v1beta/models/m:generateContent',
      'https://generativelanguage.googleapis.com/v1beta/models/m:generateContent',
    ],
    [
      'gemini',
      '/models/m:generateContent',
      'https://generativelanguage.googleapis.com/v1beta/models/m:generateContent',
    ],
    ['groq', '/openai/v1/chat/completions', 'https://api.groq.com/openai/v1/chat/completions'],
    ['groq', '/chat/completions', 'https://api.groq.com/openai/v1/chat/completions'],
    ['fireworks', '/v1/chat/completions', 'https://api.fireworks.ai/inference/v1/chat/completions'],
    ['ollama', '/api/chat', 'http://127.0.0.1:11434/api/chat'],
    [
      'bedrock',
      '/model/a%3A0/converse',
      'https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse',
    ],
    ['vertex', '/v1/x', 'https://aiplatform.googleapis.com/v1/x'],
  ])('sends %s %s to %s', (provider, path, expected) => {
    const { upstreams } = see({}, { providers: [provider] });
    expect(targetOf(upstreams[0]!, path).target.href).toBe(expected);
  });

  it.each([
    [
      'with the tail its SDK expects',
      'https://gw.example/team/v1',
      '/v1',
      '/v1/chat/completions',
      'https://gw.example/team/v1/chat/completions',
    ],
    [
      'without it',
      'https://gw.example/team/openai',
      '',
      '/chat/completions',
      'https://gw.example/team/openai/chat/completions',
    ],
    [
      'with a slash at the end',
      'http://localhost:8000/v1/',
      '/v1',
      '/v1/chat/completions',
      'http://localhost:8000/v1/chat/completions',
    ],
  ])('makes the user’s own address, %s, the upstream', (_, own, tail, path, expected) => {
    const { set, upstreams, notes } = see({ OPENAI_BASE_URL: own });
    expect(set.OPENAI_BASE_URL).toBe(`${BASE}/llm/openai${tail}`);
    expect(targetOf(upstreams[0]!, path).target.href).toBe(expected);
    expect(notes).toMatchObject([
      { code: 'CAPTURE_UPSTREAM', message: expect.stringContaining('OPENAI_BASE_URL') },
    ]);
  });

  it('shows neither credentials, keys nor the path of a gateway', () => {
    const { upstreams } = see({ OPENAI_BASE_URL: 'https://user:pw@gw.example/tok_secret/v1' });
    const { uri } = targetOf(upstreams[0]!, '/v1/chat/completions?key=sk-1&api-version=2');
    expect(uri).toBe('https://gw.example/v1/chat/completions?api-version=2');
  });

  it('takes the spelling that its SDK prefers if two disagree, with a note', () => {
    const { upstreams, notes } = see({
      OPENAI_API_BASE: 'https://old.example/v1',
      OPENAI_BASE_URL: 'https://new.example/v1',
    });
    expect(upstreams[0]!.root).toBe('https://new.example');
    expect(notes!.map(({ code }) => code)).toEqual([
      'CAPTURE_ADDRESSES_DIFFER',
      'CAPTURE_UPSTREAM',
    ]);
  });

  it('is silent about spellings that agree', () => {
    const { notes } = see({
      OPENAI_HOST: 'https://gw.example',
      OPENAI_BASE_URL: 'https://gw.example/v1',
    });
    expect(notes!.map(({ code }) => code)).toEqual(['CAPTURE_UPSTREAM']);
  });

  it('moves a leftover OPENAI_API_BASE too, which some SDKs prefer', () => {
    expect(
      see({ OPENAI_API_KEY: 'k', OPENAI_API_BASE: 'https://left.example/v1' }).set.OPENAI_API_BASE,
    ).toBe(`${BASE}/llm/openai/v1`);
  });

  it('leaves OPENAI_BASE_URL unset for Azure, because its Node SDK would throw', () => {
    const { set, notes } = see({
      OPENAI_API_KEY: 'k',
      AZURE_OPENAI_API_KEY: 'k',
      AZURE_OPENAI_ENDPOINT: 'https://me.openai.azure.com/',
    });
    expect(Object.keys(set)).toEqual([
      'AZURE_OPENAI_ENDPOINT',
      'AZURE_ENDPOINT',
      'AZURE_API_BASE',
      'AZURE_OPENAI_BASE_PATH',
    ]);
    expect(notes!.map(({ code }) => code)).toContain('CAPTURE_AZURE');
  });

  it('says that Azure needs an address', () => {
    expect(see({ AZURE_OPENAI_API_KEY: 'k' })).toMatchObject({
      set: {},
      notes: [{ code: 'CAPTURE_NO_UPSTREAM' }],
    });
  });

  it.each([
    ['127.0.0.1:11434', 'http://127.0.0.1:11434'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['gpu-box', 'http://gpu-box:11434'],
    ['https://ollama.example/x/', 'https://ollama.example/x'],
  ])('reads OLLAMA_HOST=%s', (value, expected) => {
    expect(see({ OLLAMA_HOST: value }).upstreams[0]!.root).toBe(expected);
  });

  it('lets --upstream win over the environment', () => {
    const { upstreams } = see(
      { OPENAI_BASE_URL: 'https://a.example/v1' },
      { upstreams: { openai: 'http://127.0.0.1:9/v1' } },
    );
    expect(upstreams[0]!.root).toBe('http://127.0.0.1:9');
  });

  it.each([
    ['an unknown provider', { providers: ['opnai'] }, 'OPTION_INVALID'],
    ['an address that is none', { upstreams: { openai: 'http://' } }, 'OPTION_INVALID'],
  ])('refuses %s', (_, choice, code) => {
    expect(() => see({}, choice)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['api.openai.com', 'openai'],
    ['me.openai.azure.com', 'azure'],
    ['bedrock-runtime.eu-west-1.amazonaws.com', 'bedrock'],
    ['us-central1-aiplatform.googleapis.com', 'vertex'],
    ['api.openai.com.evil.example', undefined],
    ['example.com', undefined],
  ])('knows whose host %s is', (host, provider) => {
    expect(providerOfHost(host)?.name).toBe(provider);
  });
});
