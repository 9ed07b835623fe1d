import type { Draft } from './draft.ts';

/*
 * Capabilities that a kind of recording can hold, filled or not. The builder compares them with the
 * content; only both together make a capability captured.
 */
type Records = Draft['records'];

/** Messages of a provider: calls, results and replies, and not whether a tool failed. */
export const MESSAGES_RECORD: Records = {
  toolCalls: 'full',
  toolArgs: 'full',
  toolResults: 'full',
  llmCalls: 'full',
  prompts: 'full',
};

/** Messages of an agent or a benchmark that mark the results of tools that failed. */
export const AGENT_RECORD: Records = { ...MESSAGES_RECORD, toolErrors: 'full' };

/** Tracing: everything that ran, and whether it failed. */
export const TRACING_RECORD: Records = { ...AGENT_RECORD, retrieval: 'full' };

/** Runs of several agents: their calls, failures and handoffs, but not always the task. */
export const TEAM_RECORD: Records = {
  toolCalls: 'full',
  toolArgs: 'full',
  toolResults: 'full',
  toolErrors: 'full',
  llmCalls: 'full',
  agents: 'full',
  handoffs: 'full',
};
