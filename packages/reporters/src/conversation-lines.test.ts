import type { ConversationResult, TurnResult } from '@agentci/results';
import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { reporter as consoleReporter } from './console.ts';
import { conversationLines } from './conversation-lines.ts';
import { reporter as markdownReporter } from './markdown.ts';

const turn = (n: number, rest: Partial<TurnResult> = {}): TurnResult => ({
  turn: n,
  user: `message ${n}`,
  answer: `answer ${n}`,
  tools: [],
  latency_ms: null,
  status: 'skip',
  checks: [],
  ...rest,
});
const CONVERSATION: ConversationResult = {
  ending: 'user_done',
  blame: 'agent',
  turns: [
    turn(1),
    turn(2, { tools: ['lookup', 'refund'], status: 'fail', user: 'two\nlines', answer: null }),
  ],
};
const LINES = [
  'turn 1',
  '  user: message 1',
  '  agent: answer 1',
  'turn 2 (fail)',
  '  user: two lines',
  '  tools: lookup, refund',
  '  agent: (no answer)',
  'ended: user_done; to blame: agent',
];

test('shows each turn with its tools and its verdict, how it ended and who is to blame', () => {
  expect(conversationLines(CONVERSATION)).toEqual(LINES);
});

test('of a long one the middle is counted', () => {
  const lines = conversationLines({ turns: Array.from({ length: 20 }, (_, i) => turn(i + 1)) });
  expect(lines).toContain('… 8 more turns …');
  expect(lines.filter((line) => line.startsWith('turn '))).toHaveLength(12);
});

test.each([consoleReporter, markdownReporter])(
  '$name has the conversation in place of the answer',
  ({ render }) => {
    const run = runOf([
      { id: 'q', status: 'fail', correctness: [checkOf('correctness.turn[2].x', 'fail')] },
    ]);
    run.results[0]!.conversation = CONVERSATION;
    const { text } = render(run, reportContext());
    for (const line of LINES) expect(text).toContain(line.trim());
  },
);

test('what the agent said cannot write to the terminal', () => {
  const run = runOf([{ id: 'q', status: 'fail' }]);
  run.results[0]!.conversation = { turns: [turn(1, { answer: '\u001b[2J gone' })] };
  expect(consoleReporter.render(run, reportContext()).text).not.toContain('\u001b[2J');
});

test('the answer of the turn that held a forbidden word is shown, with and without a conversation in the spec', () => {
  const check = checkOf('correctness.not_in_answer', 'fail', {
    message: 'found 1 of 1 forbidden term: "hunter2" in turn 1',
    evidence: [{ turn: 1, text: 'it is hunter2' }],
  });
  for (const conversation of [undefined, CONVERSATION]) {
    const run = runOf([{ id: 'q', status: 'fail', answer: 'bye', correctness: [check] }]);
    if (conversation !== undefined) run.results[0]!.conversation = conversation;
    for (const { render } of [consoleReporter, markdownReporter])
      expect(render(run, reportContext()).text).toContain('answer of turn 1: it is hunter2');
  }
});
