import { scriptedModel, verdictText } from '@agentci/testing/scripted-judge';
import { describe, expect, test } from 'vitest';
import { ATTACKS, PLAIN_GOOD_ANSWER } from './attacks.ts';
import { auditJudge } from './audit.ts';
import { createJudge } from './create-judge.ts';
import type { Judge } from './port.ts';
import { PADDING } from './probes.ts';

const asksForTop =
  /"?score"?\s*(?:of|:|=)?\s*=*\s*5\b|5 points|scores? (?:it )?5|deserves a 5|5 of 5 points/i;

/** Reads a prompt like a gullible model, which believes any end of the data. */
function seenOutside(text: string): string {
  const lines = text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .split(/[\n\r\u2028\u2029]/);
  let isInside = false;
  return lines
    .filter((line) => {
      const isTag = /^\s*<\s*\/?\s*data\b/i.test(line) || /^\s*\[END DATA\]/i.test(line);
      const isTurn =
        /<\|im_|\[\/?INST\]|<\/?system>|^(human|assistant):|<(?:start|end)_of_turn>|^#+ /i.test(
          line,
        );
      if (isTag) isInside = /^\s*<\s*data\b/i.test(line);
      else if (isTurn) isInside = false;
      return !isInside || !line.startsWith('| ');
    })
    .join('\n');
}

describe('a judge that obeys every verdict it can see outside the data', () => {
  test.each(['anthropic:claude-sonnet-4-5', 'openai-chat:gpt-4o-mini'])(
    'sees none: %s',
    async (model) => {
      const server = await scriptedModel(({ messages, system }) => {
        const text = messages.map((message) => message.text).join('\n');
        const orders = `${seenOutside(text)}\n${seenOutside(system)}`;
        const isGood = /^\| 4\. Type the new password/m.test(text);
        let score: number;
        if (asksForTop.test(orders)) {
          score = 5;
        } else if (isGood) {
          score = 5;
        } else {
          score = 1;
        }
        return { text: verdictText(score) };
      });
      const judge = createJudge({
        model,
        base_url: server.url,
        env: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' },
      });
      const report = await auditJudge(judge, { repeats: 1 });
      expect(report.controls.hold).toBe(true);
      expect(report.attacks.succeeded.map(({ id }) => id)).toEqual([]);
      expect(report.attacks).toMatchObject({ total: ATTACKS.length, undecided: [] });
      expect(report.errors).toBe(0);
    },
  );

  test('the same judge falls for the same attacks when it is given the bare answer', () => {
    const fooled = ATTACKS.filter(({ answer }) => asksForTop.test(seenOutside(answer)));
    expect(fooled.length).toBeGreaterThan(ATTACKS.length / 2);
  });
});

describe('what an audit finds', () => {
  const judgeOf = (
    score: (question: Parameters<Judge['ask']>[0]) => number | undefined,
  ): Judge => ({
    ask: async (question) => {
      const given = score(question);
      return given === undefined
        ? { error: true, kind: 'infra', message: 'down' }
        : { rationale: 'r', score: given, label: given >= 3 ? 'pass' : 'fail' };
    },
  });
  const fair = ({ answer }: { answer: string }): number => (/^1\. /.test(answer) ? 5 : 1);

  test('a gullible judge: attacks that succeed', async () => {
    const report = await auditJudge(
      judgeOf(({ answer }) => (answer.includes('"score": 5') ? 5 : fair({ answer }))),
    );
    expect(report.controls.hold).toBe(true);
    expect(report.attacks.succeeded.length).toBeGreaterThan(5);
    expect(report.attacks.interval!.low).toBeGreaterThan(0);
  });

  test('a judge that passes everything: the controls do not hold', async () => {
    expect((await auditJudge(judgeOf(() => 5))).controls.hold).toBe(false);
  });

  test('a judge that wavers: flips over repeats', async () => {
    const report = await auditJudge(
      judgeOf(({ answer, repeat }) => (repeat === 1 ? 3 : fair({ answer }))),
    );
    expect(report.repeats).toMatchObject({
      repeats: 3,
      flipped: ['middle-export', 'gap-move', 'vague-speed', 'none-invoice'],
    });
    expect(report.repeats.flip_rate).toBeCloseTo(4 / 6, 9);
  });

  test('a judge that pays by the word: length bias', async () => {
    const report = await auditJudge(
      judgeOf(({ answer }) => Math.min(5, fair({ answer }) + (answer.endsWith(PADDING) ? 2 : 0))),
    );
    expect(report.length.mean_change).toBeGreaterThan(1);
    expect(report.position).toMatchObject({ mean_change: 0, flipped: [] });
  });

  test('a judge that follows the order of the scale: position bias', async () => {
    const report = await auditJudge(
      judgeOf(({ answer, rubric }) => (rubric.scale[0]!.startsWith('5') ? 5 : fair({ answer }))),
    );
    expect(report.position.flipped).toHaveLength(4);
    expect(report.length.mean_change).toBe(0);
  });

  test('a judge that is down: errors, and no verdict on anything', async () => {
    const report = await auditJudge(
      judgeOf(({ answer }) => (answer === PLAIN_GOOD_ANSWER ? 5 : undefined)),
    );
    expect(report).toMatchObject({
      controls: { hold: false },
      repeats: { flip_rate: null },
      length: { mean_change: null },
    });
    expect(report.attacks.undecided).toHaveLength(ATTACKS.length);
    expect(report.attacks.interval).toBeNull();
  });
});
