import { isObject } from '@agentci/lib/data';
import type { Trace } from '@agentci/trace';

const MS_PER_SECOND = 1000;

/** One message between agents, with AgentUnit's field names. */
export interface AgentInteraction {
  readonly from_agent: string;
  readonly to_agent: string | readonly string[];
  /**
   * request, response, notification, delegation, collaboration, negotiation, conflict or handoff.
   * Default: `request`.
   */
  readonly interaction_type?: string | undefined;
  readonly message_type?: string | undefined;
  readonly success?: boolean | undefined;
  /** Seconds. */
  readonly response_time?: number | undefined;
}
export interface HandoffEvent {
  readonly success?: boolean | undefined;
  /** Seconds. */
  readonly handoff_time?: number | undefined;
}
export interface ConflictEvent {
  readonly resolved?: boolean | undefined;
  /** Seconds. */
  readonly resolution_time?: number | null | undefined;
}
export interface AgentRole {
  /** 0 to 10. Default: 5. */
  readonly authority_level?: number | undefined;
  readonly can_delegate?: boolean | undefined;
}

export interface MultiAgentInput {
  readonly interactions: readonly AgentInteraction[];
  readonly handoffs?: readonly HandoffEvent[] | undefined;
  readonly conflicts?: readonly ConflictEvent[] | undefined;
  readonly agentRoles?: Readonly<Record<string, AgentRole>> | undefined;
}

const INTERACTION_TYPES: Readonly<Record<string, string>> = {
  notify: 'notification',
  delegate: 'delegation',
  collaborate: 'collaboration',
  negotiate: 'negotiation',
};

/**
 * Interactions between agents, from a trace. If not all agents were captured, only those with a
 * role count.
 */
export function multiAgentInput(trace: Trace): Required<MultiAgentInput> {
  const interactions: AgentInteraction[] = [];
  const handoffs: HandoffEvent[] = [];
  const conflicts: ConflictEvent[] = [];
  for (const step of trace.steps) {
    if (step.kind === 'message') {
      const named = step.meta?.interaction_type;
      const type = step.type ?? (typeof named === 'string' ? named : 'request');
      interactions.push({
        from_agent: step.from,
        to_agent: step.to,
        interaction_type: INTERACTION_TYPES[type] ?? type,
        message_type: step.messageType,
        success: step.status !== 'error',
        response_time: step.responseMs === undefined ? undefined : step.responseMs / MS_PER_SECOND,
      });
    } else if (step.kind === 'handoff') {
      const ms =
        step.meta?.durationMs ??
        (step.t0 !== undefined && step.t1 !== undefined ? step.t1 - step.t0 : undefined);
      handoffs.push({
        success: step.status !== 'error',
        handoff_time: typeof ms === 'number' ? ms / MS_PER_SECOND : undefined,
      });
    } else if (step.kind === 'event' && step.name === 'conflict.raised') {
      const data = isObject(step.data) ? step.data : {};
      conflicts.push({
        resolved: data.resolved === true,
        resolution_time:
          typeof data.resolutionMs === 'number' ? data.resolutionMs / MS_PER_SECOND : undefined,
      });
    }
  }
  const roles =
    trace.captured.agents === 'full'
      ? trace.agents
      : trace.agents.filter(
          (agent) => agent.authorityLevel !== undefined || agent.role !== undefined,
        );
  const agentRoles = Object.fromEntries(
    roles.map(({ id, authorityLevel, canDelegate }) => [
      id,
      { authority_level: authorityLevel, can_delegate: canDelegate },
    ]),
  );
  return { interactions, handoffs, conflicts, agentRoles };
}

export const recipientsOf = ({ to_agent }: AgentInteraction): readonly string[] =>
  typeof to_agent === 'string' ? [to_agent] : to_agent;
