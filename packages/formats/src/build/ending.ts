import type { ConversationEnding } from '@agentci/trace';

/** Words of sources for the reason that a run stopped. */
const ENDINGS: Readonly<Record<string, ConversationEnding>> = {
  // tau2-bench
  user_stop: 'user_done',
  agent_stop: 'agent_done',
  max_steps: 'max_turns',
  too_many_errors: 'error',
  out_of_scope: 'out_of_scope',
  timeout: 'timeout',
  // Inspect
  time: 'timeout',
  working: 'timeout',
  token: 'budget',
  cost: 'budget',
  message: 'max_turns',
  turn: 'max_turns',
  context: 'error',
  operator: 'error',
  // Claude Code
  error_max_turns: 'max_turns',
  error_max_budget_usd: 'budget',
};

/** AutoGen writes sentences. */
const SENTENCES: readonly (readonly [RegExp, ConversationEnding])[] = [
  [/^timeout of/i, 'timeout'],
  [/^token usage limit/i, 'budget'],
  [/^maximum number of/i, 'max_turns'],
  [/^external termination/i, 'error'],
];

/** The ending of a run in one vocabulary. Undefined for unknown words. */
export function endingOf(reason: string | undefined): ConversationEnding | undefined {
  if (reason === undefined) return undefined;
  const word = reason.toLowerCase().replaceAll('-', '_');
  if (Object.hasOwn(ENDINGS, word)) return ENDINGS[word];
  if (/^\w*error\w*$/.test(word)) return 'error';
  return SENTENCES.find(([words]) => words.test(reason))?.[1];
}
