import { finalText, simpleTrace } from '@agentci/trace';
import { expect, test } from 'vitest';
import { stripLogs } from './strip-logs.ts';

const REPLY = 'The refund is done.\nAnything else?';

test.each([
  { when: 'the reply alone', printed: `${REPLY}\n`, answer: `${REPLY}\n`, noise: 0 },
  {
    when: 'log lines before the reply',
    printed: `2026-05-01 10:00:00,123 - INFO - agent started\nINFO: calling lookup\n${REPLY}\n`,
    answer: REPLY,
    noise: 1,
  },
  {
    when: 'log lines around the reply',
    printed: `[beeai] INFO start\n${REPLY}\n10:00:01 DEBUG end\n`,
    answer: REPLY,
    noise: 1,
  },
  {
    when: 'other text before the reply',
    printed: `Answer:\n${REPLY}`,
    answer: `Answer:\n${REPLY}`,
    noise: 0,
  },
  {
    when: 'a log without the reply',
    printed: 'INFO: done',
    answer: 'INFO: done',
    noise: 0,
  },
])('an agent that prints $when', ({ printed, answer, noise }) => {
  const trace = stripLogs(simpleTrace(printed), simpleTrace(REPLY));
  expect(finalText(trace)).toBe(answer);
  expect(trace.warnings.filter(({ code }) => code === 'OUTPUT_NOISE')).toHaveLength(noise);
});

test('removes nothing if the capture saw no reply', () => {
  const given = simpleTrace('INFO: done');
  expect(stripLogs(given, undefined)).toBe(given);
});
