import { NotCaptured } from '../kit/cel/expression.ts';
import { type CallFacts, callFacts } from '../trace/call-facts.ts';
import type { Agent, ToolStep, Trace } from '../trace/model.ts';
import type { PolicyCall } from './call.ts';
import type { ListedTool } from './definitions/pinned-tools.ts';

/** What rules may know of a run apart from its calls. What is absent is not known. */
export interface RunFacts {
  readonly query?: string;
  /** Agents by the ids that the calls carry. */
  readonly agents?: readonly Agent[];
  /** The definitions of the tools, as the model saw them. */
  readonly tools?: readonly ListedTool[];
}

/** What a recording tells beside its calls. */
export const runFactsOf = ({ agents, tools }: Trace, query?: string): RunFacts => ({
  agents,
  ...(tools === undefined ? {} : { tools }),
  ...(query === undefined ? {} : { query }),
});

/** A call as an expression sees it: to touch what was not captured throws. */
export type CallValue = Readonly<Record<string | typeof ASIDE, unknown>>;

/** What belongs to a call and has no name in expressions. */
export const ASIDE = Symbol('aside');
export type Aside = Pick<PolicyCall, 'said' | 'sent'>;

/** What an expression may ask of a call, beside its name. */
export const CALL_FIELDS = ['args', 'result', 'error', 'agent', 'latency_ms', 'at_ms'] as const;

/** The facts of a call, whether it is a step of a trace or was written down in the simple form. */
export function factsOf(call: PolicyCall, run: RunFacts): CallFacts & Aside {
  if ((call as { kind?: unknown }).kind === 'tool')
    return callFacts(call as unknown as ToolStep, { agents: [...(run.agents ?? [])] });
  const { error, ...facts } = call;
  if (error !== undefined && error !== null)
    return { ...facts, error: typeof error === 'string' ? error : JSON.stringify(error) };
  return error === null || facts.result !== undefined ? { ...facts, error: null } : facts;
}

/** The value of a call, its fields read when they are touched; `read` gives them anew, for a result may still come. */
export function callValue(name: string, number: number, read: () => CallFacts & Aside): CallValue {
  const value: Record<string | typeof ASIDE, unknown> = { name, [ASIDE]: undefined };
  Object.defineProperty(value, ASIDE, { enumerable: false, get: () => read() });
  for (const field of CALL_FIELDS)
    Object.defineProperty(value, field, {
      enumerable: true,
      get: () => {
        const found = read()[field];
        if (found === undefined) throw new NotCaptured(`${field} of call ${number} (${name}) is not known`);
        return found;
      },
    });
  return value;
}
