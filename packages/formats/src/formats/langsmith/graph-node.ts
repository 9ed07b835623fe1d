import type { Fields } from '@agentci/trace';
import { label, pick } from '../../build/values.ts';

/**
 * The agent a run of LangGraph belongs to: the graph around its node, named in the checkpoint namespace
 * `Alice:…|tools:…`. In a graph that is alone nodes are steps, not agents.
 */
export function graphAgent(metadata: Fields): string | undefined {
  const named = label(pick(metadata, 'lc_agent_name', 'agent_name'));
  if (named !== undefined) return named;
  const namespace = label(
    pick(metadata, 'langgraph_checkpoint_ns', 'checkpoint_ns', '__pregel_checkpoint_ns'),
  );
  const path = namespace?.split('|') ?? [];
  return path.length < 2 ? undefined : label(path.at(-2)!.split(':')[0]);
}
