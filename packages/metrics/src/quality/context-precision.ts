import type { Judge } from '@agentci/judge';
import { present } from '@agentci/lib/data';
import { measured } from '../metric.ts';
import { byModel, verdictIssue } from './model-method.ts';

/**
 * Average precision at the rank of each useful text, which useful texts far down the list lower. 0
 * if none is useful.
 */
export function averagePrecision(useful: readonly boolean[]): number {
  let found = 0;
  let sum = 0;
  for (const [i, isUseful] of useful.entries()) {
    if (!isUseful) continue;
    found++;
    sum += found / (i + 1);
  }
  return found === 0 ? 0 : sum / found;
}

/** Asks for each retrieved text whether it helped to reach the answer. */
export const contextPrecision = (options: {
  readonly judge: Judge | undefined;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly query: string | undefined;
  readonly contexts: readonly string[];
  readonly answer: string;
}) =>
  byModel(options.judge, options.detail, async (tasks) => {
    const { query, contexts, answer } = options;
    const useful: boolean[] = [];
    const verdicts: { context: number; useful: boolean; reason: string }[] = [];
    // One call per text, because neighbors would influence the verdict.
    const replies = await Promise.all(
      contexts.map((text) =>
        tasks.do<{ verdicts: [{ verdict: 0 | 1; reason: string }] }>({
          id: 'metric.useful',
          version: '1',
          instruction:
            'Decide whether the block "context" was useful in arriving at the block "answer" to the block "question". 1: it was. 0: it was not.',
          format: '{"verdicts": [{"index": 1, "reason": short text, "verdict": 0 or 1}]}',
          blocks: present([
            query ? { name: 'question', text: query } : undefined,
            { name: 'context', text },
            { name: 'answer', text: answer },
          ]),
          check: (reply) => verdictIssue(reply, 1),
        }),
      ),
    );
    for (const [i, reply] of replies.entries()) {
      const [{ verdict, reason }] = reply.verdicts;
      useful.push(verdict === 1);
      verdicts.push({ context: i + 1, useful: verdict === 1, reason });
    }
    return measured(averagePrecision(useful), { verdicts });
  });
