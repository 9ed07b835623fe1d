import type { Cost, LlmStep, Usage } from '@agentci/trace';
import { CallIds } from './call-ids.ts';
import type { DraftLlm, Gap, Turn } from './draft.ts';

/** Facts about the model call behind an assistant message. */
export interface Reply {
  readonly model?: string;
  readonly provider?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  readonly finish?: NonNullable<LlmStep['finish']>;
  readonly responseId?: string;
  readonly t0?: number;
  readonly t1?: number;
  readonly status?: LlmStep['status'];
  readonly gap?: Gap;
}

/**
 * Reads a list of messages as model calls: each assistant message is one call, whose input is
 * everything since the previous one. Remaining messages belong in the draft's `turns`.
 */
export function conversation(
  turns: readonly Turn[],
  reply: (turn: Turn, index: number) => Reply = () => ({}),
): { readonly steps: DraftLlm[]; readonly turns: Turn[] } {
  const steps: DraftLlm[] = [];
  let since: Turn[] = [];
  const ids = new CallIds();
  for (const [index, given] of turns.entries()) {
    const turn = ids.distinct(given);
    if (turn.role !== 'assistant') {
      since.push(turn);
      continue;
    }
    steps.push({
      kind: 'llm',
      output: turn,
      input: since.length !== 0 ? since : undefined,
      inputIsDelta: steps.length !== 0 ? true : undefined,
      agent: turn.agent,
      // Callers know their own message, not the one with distinguished ids.
      ...reply(given, index),
    });
    since = [];
  }
  return { steps, turns: since };
}
