import { defined } from '@agentci/lib/data';
import type { Agent } from '@agentci/trace';
import { isAgent, isKept, type Node } from './tree.ts';

/** The agent of a step: its own, else the nearest enclosing one. */
export function agentOf(node: Node): string | undefined {
  if (node.draft.agent !== undefined) return node.draft.agent;
  const { agent } = node.above;
  return agent !== undefined && isAgent(agent) ? agent.draft.name : undefined;
}

/** All agents in order of appearance, with the source's facts about them. */
export function agentsOf(nodes: readonly Node[], known: readonly Agent[]): Agent[] {
  const agents = new Map<string, Agent>();
  const said = new Map(
    known.flatMap((agent) => [[agent.id, agent] as const, [agent.name, agent] as const]),
  );
  const add = (name: string | undefined, more: Partial<Agent> = {}): void => {
    if (name === undefined || name === '' || agents.has(name)) return;
    agents.set(name, { id: name, name, ...more, ...defined(said.get(name) ?? {}) });
  };
  for (const node of nodes) {
    if (!isKept(node)) continue;
    const { draft } = node;
    if (draft.kind === 'agent') {
      const above = agentOf(node);
      add(draft.name, above === undefined || above === draft.name ? {} : { parent: above });
    } else if (draft.kind === 'handoff') {
      add(draft.from ?? agentOf(node));
      add(draft.to);
    } else if (draft.kind === 'message') {
      add(draft.from);
      for (const to of typeof draft.to === 'string' ? [draft.to] : draft.to) add(to);
    } else add(agentOf(node));
  }
  for (const agent of known)
    if (!agents.has(agent.name) && !agents.has(agent.id)) agents.set(agent.id, agent);
  return [...agents.values()];
}
