import { visibleName } from '@agentci/lib/text';
import { maskedTest } from './mask-trace.ts';
import type {
  Capability,
  HandoffStep,
  LlmStep,
  Message,
  Part,
  Step,
  ToolStep,
  Trace,
} from './model.ts';

const isTool = (step: Step): step is ToolStep => step.kind === 'tool';
const isLlm = (step: Step): step is LlmStep => step.kind === 'llm';
const isHandoff = (step: Step): step is HandoffStep => step.kind === 'handoff';

/**
 * Tool calls in step order, with normalized names. Also empty if they were not captured: check
 * `captures(trace, 'toolCalls')`.
 */
export function toolCalls(trace: Trace): ToolStep[] {
  const calls: ToolStep[] = [];
  for (const step of trace.steps) if (isTool(step)) calls.push(withVisibleName(step));
  return calls;
}

function withVisibleName(step: ToolStep): ToolStep {
  const name = visibleName(step.name);
  const rawName = step.rawName === undefined ? undefined : visibleName(step.rawName);
  if (name === step.name && rawName === step.rawName) return step;
  return { ...step, name, rawName: rawName ?? step.rawName };
}

/** Names of the called tools in step order, with repeats. */
export const toolNames = (trace: Trace): string[] => toolCalls(trace).map((step) => step.name);

export const handoffs = (trace: Trace): HandoffStep[] => trace.steps.filter(isHandoff);

export const llmCalls = (trace: Trace): LlmStep[] => trace.steps.filter(isLlm);

/** Whether a capability was recorded at least in part. `trace.captured` has the level. */
export const captures = (trace: Trace, capability: Capability): boolean =>
  trace.captured[capability] !== 'none';

/**
 * The answer as text: as given, else its text parts, else its data as JSON. A list has one item per
 * line (`[]` if empty).
 */
export function finalText(trace: Trace): string | undefined {
  const { final } = trace;
  if (final === undefined) return undefined;
  if (final.text !== undefined) return final.text;
  const text = final.parts === undefined ? undefined : textOfParts(final.parts);
  if (text !== undefined) return text;
  if (Array.isArray(final.data) && final.data.length > 0)
    return final.data.map((item: unknown) => textOfValue(item) ?? '').join('\n');
  return textOfValue(final.data);
}

/** The question to the agent: the text of the last user message in its input. */
export function queryText(trace: Trace): string | undefined {
  const message = trace.task?.input?.findLast((m: Message) => m.role === 'user');
  return message === undefined ? undefined : textOfParts(message.parts);
}

/**
 * The texts that an answer can be grounded in: documents, tool results, `meta.context`. Undefined
 * if none is reliable.
 */
export function contextOf(trace: Trace): string[] | undefined {
  const texts: string[] = [];
  for (const step of trace.steps) {
    if (step.kind === 'retrieval') {
      for (const document of step.documents)
        if (document.text !== undefined) texts.push(document.text);
    } else if (step.kind === 'tool') {
      const text =
        textOfValue(step.result) ??
        (step.resultParts === undefined ? undefined : textOfParts(step.resultParts));
      if (text !== undefined) texts.push(text);
    }
  }
  const { context } = trace.meta;
  for (const item of Array.isArray(context) ? context : [context])
    if (typeof item === 'string') texts.push(item);
  const isMasked = maskedTest(trace);
  // Redacted results are not visible to a judge.
  const isCut =
    isMasked !== undefined && (trace.captured.toolResults === 'partial' || texts.some(isMasked));
  return texts.length === 0 || isCut ? undefined : texts;
}

function textOfParts(parts: readonly Part[]): string | undefined {
  const texts: string[] = [];
  for (const part of parts) if (part.type === 'text') texts.push(part.text);
  return texts.length === 0 ? undefined : texts.join('\n');
}

function textOfValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}
