// Condition C2: one agent receives everything at once and answers with a list of actions.
import { complete, EVIDENCE, type Run, seedOf } from './incident.ts';

const SYSTEM =
  'You are the only agent on call. Answer with a numbered list of actions for the operator.';

export default async function singleAgent(query: string, run: Run) {
  const started = performance.now();
  const { text, call } = await complete(SYSTEM, `${query}\n\n${EVIDENCE}`, seedOf(run));
  return {
    query,
    answer: text,
    tool_calls: [],
    llm_calls: [call],
    latency_ms: performance.now() - started,
  };
}
