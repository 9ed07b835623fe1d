import { startChaos } from '@agentci/testing/chaos-upstream';
import { expect, onTestFinished, test } from 'vitest';
import { createCapture } from './capture.ts';
import type { CaptureNote } from './plane.ts';

test('the target of calls is reported once, only for the provider in use', async () => {
  const upstream = await startChaos((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  });
  onTestFinished(() => upstream.close());
  const told: CaptureNote[] = [];
  const capture = createCapture({
    planes: ['llm'],
    env: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      ANTHROPIC_BASE_URL: upstream.url,
      GROQ_BASE_URL: upstream.url,
    },
    cwd: import.meta.dirname,
    onNote: (note) => told.push(note),
  });
  onTestFinished(() => capture.close());
  const slot = await capture.open();
  onTestFinished(() => slot.close());
  slot.begin();
  expect(capture.notes).toEqual([]);
  for (let i = 0; i < 2; i++) {
    const reply = await fetch(`${slot.env.OPENAI_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"m","messages":[]}',
    });
    await reply.text();
  }
  await slot.end('itself');
  expect(told).toMatchObject([
    { code: 'CAPTURE_UPSTREAM', message: expect.stringContaining('OPENAI_BASE_URL') },
  ]);
  expect(capture.notes).toHaveLength(1);
});
