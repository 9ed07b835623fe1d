import { tempDir } from '@agentci/testing/temp-dir';
import { expect, it } from 'vitest';
import { createCapture } from './capture.ts';
import { providerSettings } from './dotenv.ts';

it('finds keys and addresses of providers, and nothing else', () => {
  const dir = tempDir({
    '.env': `# a comment\nOPENAI_API_KEY="k1" # the key\nexport ANTHROPIC_BASE_URL='https://gw.example'\nGEMINI_API_KEY=\nDATABASE_URL=postgres://x\nGROQ_API_KEY = k2 # inline\n`,
    '.env.local': 'OPENAI_API_KEY=k0\n',
  });
  expect(providerSettings(dir)).toEqual({
    OPENAI_API_KEY: 'k0',
    ANTHROPIC_BASE_URL: 'https://gw.example',
    GROQ_API_KEY: 'k2',
  });
});

it('finds nothing without a file', () => {
  expect(providerSettings(tempDir())).toEqual({});
});

it('captures a provider that only the file names, at its address in the file, and leaves the key to the agent', async () => {
  const cwd = tempDir({ '.env': 'OPENAI_API_KEY=k\nOPENAI_BASE_URL=https://gw.example/v1\n' });
  const capture = createCapture({ planes: ['llm'], env: {}, cwd });
  const slot = await capture.open();
  expect(capture.upstreams).toEqual({ openai: 'gw.example' });
  expect(slot.env.OPENAI_BASE_URL).toContain('http://127.0.0.1:');
  expect(slot.env.OPENAI_API_KEY).toBeUndefined();
  await slot.close();
  await capture.close();
});
