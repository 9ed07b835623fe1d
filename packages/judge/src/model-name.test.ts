import { expect, test } from 'vitest';
import { parseModelName } from './model-name.ts';

test.each([
  { name: 'claude-sonnet-4-5-20250929', provider: 'anthropic' },
  { name: 'anthropic:claude-3-5-haiku', provider: 'anthropic', model: 'claude-3-5-haiku' },
  { name: 'gpt-4o-mini', provider: 'openai' },
  { name: 'o3-mini', provider: 'openai' },
  { name: 'openai:gpt-4o', provider: 'openai', model: 'gpt-4o' },
  { name: 'openai-chat:gpt-4o', provider: 'openai-chat', model: 'gpt-4o' },
  { name: 'gemini-2.5-flash', provider: 'google' },
  { name: 'Google:gemini-2.5-flash', provider: 'google', model: 'gemini-2.5-flash' },
])('$name is reached through $provider', ({ name, provider, model = name }) => {
  expect(parseModelName(name, { hasBaseUrl: false })).toEqual({ provider, model });
});

test.each([
  { name: 'llama3.1:8b', provider: 'openai-compatible', model: 'llama3.1:8b' },
  { name: 'gpt-4o-mini', provider: 'openai-compatible', model: 'gpt-4o-mini' },
  { name: 'openai-compatible:qwen3:4b', provider: 'openai-compatible', model: 'qwen3:4b' },
  { name: 'anthropic:claude-3-5-haiku', provider: 'anthropic', model: 'claude-3-5-haiku' },
])('with a base URL, $name is $provider', ({ name, provider, model }) => {
  expect(parseModelName(name, { hasBaseUrl: true })).toEqual({ provider, model });
});

test.each(['llama3.1:8b', 'anthropic:', '', 'openai-compatible:x', 'opus'])(
  'nobody serves "%s"',
  (name) => {
    expect(parseModelName(name, { hasBaseUrl: false })).toBeUndefined();
  },
);
