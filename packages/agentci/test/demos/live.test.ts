import { join } from 'node:path';
import { node } from '@agentci/testing/node';
import { scriptedModel, verdictText } from '@agentci/testing/scripted-judge';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { expect, test } from 'vitest';

// --live sends agent and judge to the provider with the user's key. Here a local server replaces
// the provider.

const workspace = workspaceCopy();
const KEY = 'sk-not-a-real-key';

test.each([
  {
    demo: 'rag',
    filter: 'super-bowl',
    says: 'I can only help with AgentCI; that is outside its documentation.',
    calls: 1,
  },
  {
    demo: 'rag',
    filter: 'weather',
    says: 'I am sorry, that is outside what I know about.',
    calls: 2,
  },
  {
    demo: 'support-router',
    filter: 'just-invoice',
    says: 'Please give me your customer number.',
    calls: 1,
  },
  {
    demo: 'dev-agent',
    filter: 'nowhere',
    says: 'That repository does not exist, so there is nothing to say.',
    calls: 1,
  },
])(
  '$demo --live asks the provider about $filter, and nobody else',
  { timeout: 60_000 },
  async ({ demo, filter, says, calls }) => {
    const isJudge = (system: string): boolean => /rubric|judge|score/i.test(system);
    const provider = await scriptedModel(({ system }) => ({
      text: isJudge(system) ? verdictText(5) : says,
    }));
    const { code, text } = await node(
      ['demos/run.mjs', demo, '--live', '--filter', filter],
      workspace,
      {
        OPENAI_API_KEY: KEY,
        OPENAI_BASE_URL: provider.url,
      },
    );
    expect({ asked: provider.requests.length, text }).toMatchObject({ asked: calls });
    for (const { model, headers } of provider.requests) {
      expect(model).toBe('gpt-4o-mini');
      expect(headers.authorization).toBe(`Bearer ${KEY}`);
    }
    expect(text).not.toContain(KEY);
    // The fake provider hands nothing over, so the support agent warns. Nothing fails or is
    // unknown.
    expect({ code, text: code === 0 ? '' : text }).toEqual({ code: 0, text: '' });
  },
);

test('an unknown demo is not green', async () => {
  const { code } = await node(['demos/run.mjs', 'nothing'], join(workspace));
  expect(code).toBe(2);
});
