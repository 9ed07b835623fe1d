import { NotCaptured } from '@agentci/lib/cel';
import { canonicalJson } from '@agentci/lib/data';
import type { Agent, ToolStep, Trace } from '@agentci/trace';
import { type CallFacts, callFacts } from '@agentci/trace';
import type { PolicyCall } from './call.ts';
import type { ListedTool } from './definitions/pinned-tools.ts';

/** Facts about a run other than its calls. Absent means unknown. */
export interface RunFacts {
  readonly query?: string;
  /** Agents by the ids in the calls. */
  readonly agents?: readonly Agent[];
  /** The definitions of the tools that the model saw. */
  readonly tools?: readonly ListedTool[];
}

/** The facts of a recording. */
export const runFactsOf = ({ agents, tools }: Trace, query?: string): RunFacts => ({
  agents,
  tools,
  query,
});

/** A call in the form of expressions. Reading a field that was not captured throws. */
export type CallValue = Readonly<Record<string | typeof ASIDE, unknown>>;

/** Data of a call that expressions cannot name. */
export const ASIDE = Symbol('aside');
export type Aside = Pick<PolicyCall, 'said' | 'forms' | 'sent'>;

/** Fields of a call in expressions, in addition to its name. */
export const CALL_FIELDS = ['args', 'result', 'error', 'agent', 'latency_ms', 'at_ms'] as const;

/** The facts of a call, from a trace step or the simple form. */
export function factsOf(call: PolicyCall, run: RunFacts): CallFacts & Aside {
  if ((call as { kind?: unknown }).kind === 'tool') {
    const step = call as unknown as ToolStep;
    const forms = formsIn(step);
    const facts = callFacts(step, { agents: [...(run.agents ?? [])] });
    return forms.length === 0 ? facts : { ...facts, forms };
  }
  const { error, ...facts } = call;
  if (error !== undefined && error !== null)
    return { ...facts, error: typeof error === 'string' ? error : JSON.stringify(error) };
  return error === null || facts.result !== undefined ? { ...facts, error: null } : facts;
}

/** The other forms of a recorded result. A value parsed from its text is that text. */
function formsIn({ result, resultParts = [] }: ToolStep): string[] {
  const texts = resultParts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length === 0 || (texts.length === 1 && isSameJson(texts[0]!, result))) return [];
  return otherForms(texts, result);
}

function isSameJson(text: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(value);
  } catch {
    return false;
  }
}

/**
 * The texts that a client may show for a result in addition to its value: all joined, and each
 * separately.
 */
export function otherForms(texts: readonly string[], value: unknown): string[] {
  const each = texts.map((text) => text.trim());
  const forms = new Set([
    texts.join('\n'),
    texts.join(''),
    each.filter((text) => text !== '').join('\n'),
    ...each,
  ]);
  return [...forms].filter((form) => form !== value && form.trim() !== '');
}

/**
 * The value of a call with lazy fields. `read` is called each time, because a result may arrive
 * later.
 */
export function callValue(name: string, number: number, read: () => CallFacts & Aside): CallValue {
  const value: Record<string | typeof ASIDE, unknown> = { name, [ASIDE]: undefined };
  Object.defineProperty(value, ASIDE, { enumerable: false, get: () => read() });
  for (const field of CALL_FIELDS)
    Object.defineProperty(value, field, {
      enumerable: true,
      get: () => {
        const found = read()[field];
        if (found === undefined)
          throw new NotCaptured(`${field} of call ${number} (${name}) is not known`);
        return found;
      },
    });
  return value;
}
