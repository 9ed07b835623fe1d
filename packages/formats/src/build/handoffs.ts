import type { Agent } from '@agentci/trace';
import { agentKey, isFields } from '@agentci/trace';
import { agentOf } from './agents.ts';
import type { DraftHandoff, DraftTool } from './draft.ts';
import { isAgent, isHandoff, isKept, isLlm, isTool, type Node, nodeOf } from './tree.ts';
import { label } from './values.ts';

const TRANSFER = /^(?:transfer|handoff|hand_off|delegate)_(?:back_)?to_(.+)$/i;
/** Tools with which a CrewAI agent turns to another, named in an argument. */
const COWORKER = /^(?:delegate[ _]work[ _]to[ _]coworker|ask[ _]question[ _]to[ _]coworker)$/i;
/** Tools whose argument names the agent: Google ADK, and the sub-agents of coding agents. */
const NAMED: readonly {
  readonly tool: RegExp;
  readonly keys: readonly string[];
  readonly mode: 'pass' | 'return';
}[] = [
  { tool: /^transfer_to_agent$/i, keys: ['agent_name', 'agentName'], mode: 'pass' },
  { tool: COWORKER, keys: ['coworker', 'co_worker'], mode: 'return' },
  {
    tool: /^hand[-_ ]?off$/i,
    keys: ['toAgent', 'to_agent', 'agentName', 'agent_name', 'agent', 'target', 'to'],
    mode: 'pass',
  },
  {
    tool: /^delegate[-_ ]?task$/i,
    keys: ['agentName', 'agent_name', 'agent', 'toAgent', 'to_agent', 'targetAgent', 'assignee'],
    mode: 'return',
  },
  { tool: /^(?:Task|Agent)$/, keys: ['subagent_type', 'subagentType'], mode: 'return' },
];

/**
 * Adds implicit handoffs: a call of a transfer tool, an agent that runs inside a tool call, and, if
 * the format asks for it, a change of the speaking agent. The tool call stays, and the handoff
 * names it in `via`.
 */
export function withHandoffs(
  nodes: readonly Node[],
  options: { readonly agents: readonly Agent[]; readonly speakersHandOff: boolean },
): Node[] {
  const names = new Map(options.agents.map((agent) => [agentKey(agent.name), agent.name]));
  const said = new Set(nodes.flatMap((node) => (isHandoff(node) ? [agentKey(node.draft.to)] : [])));
  const recorded = new Set(
    nodes.flatMap((node) => (isHandoff(node) ? [node.draft.from ?? agentOf(node)] : [])),
  );
  const out: Node[] = [];
  const viaAgents = subAgents(nodes);
  let speaker: string | undefined;
  for (const node of nodes) {
    if (options.speakersHandOff && isLlm(node) && isKept(node)) {
      const now = agentOf(node);
      if (
        speaker !== undefined &&
        now !== undefined &&
        now !== speaker &&
        !hasHandoffSince(out, now)
      )
        out.push(handoff(node, { from: speaker, to: now, mode: 'unknown' }));
      speaker = now ?? speaker;
    }
    out.push(node);
    if (!isTool(node) || !isKept(node)) continue;
    const found = transferOf(node, names) ?? viaAgents.get(node);
    const from = agentOf(node);
    if (found === undefined || found.to === from || said.has(agentKey(found.to))) continue;
    // If an agent's handoffs are recorded, any other transfer was requested but not made.
    if (found.mode === 'pass' && from !== undefined && recorded.has(from)) continue;
    out.push(handoff(node, { ...found, from, via: node }));
  }
  return out;
}

interface Found {
  readonly to: string;
  readonly mode: DraftHandoff['mode'];
}

function transferOf(node: Node<DraftTool>, names: ReadonlyMap<string, string>): Found | undefined {
  const { name, args, status } = node.draft;
  // A refused or failed call hands nothing over.
  if (status === 'error' || status === 'denied' || status === 'cancelled') return undefined;
  for (const { tool, keys, mode } of NAMED) {
    if (!tool.test(name)) continue;
    const named = isFields(args)
      ? keys.map((key) => label(args[key])).find((value) => value !== undefined)
      : undefined;
    if (named !== undefined) return { to: names.get(agentKey(named)) ?? named, mode };
  }
  const tool = TRANSFER.exec(name)?.[1];
  if (tool === undefined) return undefined;
  // If the arguments or the result name the agent, the tool name is just a name.
  const to = namedAgent(args) ?? namedAgent(node.draft.result) ?? tool;
  if (to === 'agent') return undefined;
  // `transfer_to_billing` leads to the agent that calls itself BillingAgent.
  return { to: names.get(agentKey(to)) ?? to, mode: 'pass' };
}

function namedAgent(value: unknown): string | undefined {
  if (!isFields(value)) return undefined;
  return AGENT_KEYS.map((key) => label(value[key])).find((name) => name !== undefined);
}
const AGENT_KEYS = [
  'agent_name',
  'agentName',
  'target_agent_name',
  'target_agent',
  'targetAgent',
  'to_agent',
];

/** Agents that ran inside a tool call: the call handed over and got control back. */
function subAgents(nodes: readonly Node[]): Map<Node, Found> {
  const found = new Map<Node, Found>();
  for (const node of nodes) {
    if (!isAgent(node) || !isKept(node) || node.above.tool === undefined) continue;
    const { tool, agent } = node.above;
    // The tool must be between this agent and its nearest ancestor, otherwise it called another
    // agent.
    if (agent !== undefined && isBelow(agent, tool)) continue;
    if (!found.has(tool)) found.set(tool, { to: node.draft.name, mode: 'return' });
  }
  return found;
}

function isBelow(node: Node, tool: Node): boolean {
  for (let above = node.above.tool; above !== undefined; above = above.above.tool)
    if (above === tool) return true;
  return false;
}

/** Whether the change of speaker was announced: the last handoff leads to who speaks now. */
function hasHandoffSince(nodes: readonly Node[], now: string): boolean {
  const last = nodes.findLast((node) => isHandoff(node) || (isLlm(node) && isKept(node)));
  return last !== undefined && isHandoff(last) && agentKey(last.draft.to) === agentKey(now);
}

function handoff(
  at: Node,
  found: { to: string; from?: string; mode: DraftHandoff['mode']; via?: Node<DraftTool> },
): Node {
  const { to, from, mode, via } = found;
  const { t0, t1 } = at.draft;
  const when = via === undefined ? t0 : (t1 ?? t0);
  const draft: DraftHandoff = {
    kind: 'handoff',
    to,
    status: 'ok',
    mode,
    from,
    t0: when,
    timing: when === undefined ? undefined : ('estimated' as const),
  };
  const node = nodeOf(draft, at.parent);
  Object.assign(node.above, at.above);
  node.requester = via;
  return node;
}
