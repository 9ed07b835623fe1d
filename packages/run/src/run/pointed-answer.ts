import type { LlmStep, Trace } from '@agentci/trace';
import { FINISH_KEYS, finishOf, isFields, simpleTrace } from '@agentci/trace';
import type { PointedAnswer } from '../runners/runner.ts';

/**
 * The trace of an answer that the spec points at. If the document around it is a recording, it adds
 * the stop reason, the usage and the tool calls.
 */
export function withPointedAnswer(
  recorded: Trace | undefined,
  { text, body, pointer }: PointedAnswer,
): Trace {
  const trace = recorded ?? simpleTrace({ answer: text });
  const { step, agent, finish = finishNear(body, pointer) } = trace.final ?? {};
  return {
    ...trace,
    final: {
      text,
      step,
      agent,
      finish,
    },
    captured: { ...trace.captured, final: 'full' },
    warnings: trace.warnings.filter(({ code }) => !isOurs(code, trace)),
  };
}

/**
 * The body is in the server's own form, and the spec names the path of the answer. Other keys are
 * not mistakes.
 */
const isOurs = (code: string, { captured }: Trace): boolean =>
  code === 'SIMPLE_UNKNOWN_KEY' ||
  (code === 'SIMPLE_CALLS_ELSEWHERE' && captured.toolCalls === 'none');

/** The stop reason from the enclosing objects. The innermost counts. */
function finishNear(body: unknown, pointer = ''): LlmStep['finish'] {
  let current = body;
  let finish: LlmStep['finish'];
  for (const part of [undefined, ...pointer.split('/').slice(1)]) {
    if (part !== undefined)
      current = Array.isArray(current) || isFields(current) ? ownAt(current, part) : undefined;
    if (!isFields(current)) continue;
    const fields = current;
    const key = FINISH_KEYS.find((name) => typeof fields[name] === 'string');
    if (key !== undefined) finish = finishOf(fields[key]);
  }
  return finish;
}

function ownAt(value: object, part: string): unknown {
  const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}
