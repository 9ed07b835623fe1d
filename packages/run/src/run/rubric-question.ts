import { clip } from '@agentci/checks';
import type { JudgeQuestion } from '@agentci/judge';
import {
  capLength,
  MAX_ANSWER,
  MAX_CONVERSATION,
  type ResolvedRubric,
  resolveRubric,
} from '@agentci/judge';
import { escapeJsonLine } from '@agentci/lib/text';
import type { Query, RubricItem } from '@agentci/spec';
import { readContextFile, SpecFolder } from '@agentci/spec';
import type { ToolStep, Trace } from '@agentci/trace';
import {
  capturedCalls,
  contextOf,
  maskedReason,
  maskedTest,
  transcriptLines,
} from '@agentci/trace';

/** The question to a judge about an answer, or the reason why it cannot be asked. */
export type RubricQuestion =
  | { readonly question: JudgeQuestion; readonly rubric: ResolvedRubric }
  /** `isOpen`: there is nothing to compare with, but no error either. */
  | { readonly problem: string; readonly isOpen: boolean };

/**
 * The question of a rubric about an answer. People who label answers see the same texts as the
 * judge.
 */
export function rubricQuestion(
  { key, written }: Pick<RubricItem, 'key' | 'written'>,
  { query, trace, answer, dir }: { query: Query; trace: Trace; answer: string; dir: string },
): RubricQuestion {
  const rubric = resolveRubric(written);
  const context: string[] = [];
  if (written.context_file !== undefined) {
    const file = readContextFile(written.context_file, new SpecFolder(dir));
    if (!file.ok) return { problem: file.message, isOpen: false };
    context.push(file.text);
  }
  const isGrounding = key === 'hallucination_check' || rubric.needsContext;
  if (isGrounding) context.push(...(query.context ?? []), ...(contextOf(trace) ?? []));
  if (isGrounding && context.length === 0)
    return {
      problem: 'no context was captured to compare the answer with',
      isOpen: key === 'hallucination_check',
    };
  const extra = extraContext(rubric, query, trace);
  if ('missing' in extra) return { problem: extra.missing, isOpen: false };
  context.push(...extra.texts);
  const scored = scoredText(query, trace, answer);
  if (scored.answer.length > MAX_CONVERSATION && scored.isConversation)
    return {
      problem: `the conversation is too long for a judge (over ${MAX_CONVERSATION} characters)`,
      isOpen: false,
    };
  const isMasked = maskedTest(trace);
  if (isMasked !== undefined && [...context, scored.answer].some(isMasked))
    return { problem: maskedReason(trace)!, isOpen: false };
  return {
    rubric,
    question: {
      rubric: isGrounding ? { ...rubric, needsContext: true } : rubric,
      query: query.query,
      ...scored,
      context: context.length > 0 ? [...new Set(context)] : undefined,
    },
  };
}

/**
 * The text to score: the answer, or all messages of a conversation, because an earlier answer is an
 * answer too.
 */
function scoredText(
  query: Query,
  trace: Trace,
  answer: string,
): Pick<JudgeQuestion, 'answer' | 'isConversation'> {
  const turns = trace.conversation?.turns.length ?? 1;
  if (query.conversation === undefined && turns < 2) return { answer };
  return {
    answer: transcriptLines(trace, (text) => capLength(text, MAX_ANSWER)).join('\n'),
    isConversation: true,
  };
}

/** The steps of the run and the expected answer, for rubrics about them. */
function extraContext(
  { needs = [] }: ResolvedRubric,
  query: Query,
  trace: Trace,
): { readonly texts: readonly string[] } | { readonly missing: string } {
  const texts: string[] = [];
  if (needs.includes('steps')) {
    const recorded = capturedCalls(trace);
    if (recorded === undefined) return { missing: 'tool calls were not captured' };
    if (recorded.isPartial) return { missing: 'not all tool calls were captured' };
    const { toolArgs, toolResults } = trace.captured;
    const masked =
      toolArgs === 'partial' || toolResults === 'partial' ? maskedReason(trace) : undefined;
    if (masked !== undefined) return { missing: masked };
    texts.push(stepsText(recorded.calls));
  }
  if (needs.includes('expected')) {
    if (query.expectedOutput === undefined) return { missing: 'the query has no expected_output' };
    texts.push(`Expected answer: ${query.expectedOutput}`);
  }
  return { texts };
}

/** Long arguments and results help a judge little. */
const MAX_SHOWN = 500;
const MAX_STEPS = 200;

/** A short value unchanged, otherwise the beginning of its text. */
function shortly(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? clip(text, MAX_SHOWN) : value;
}

function stepsText(calls: readonly ToolStep[]): string {
  if (calls.length === 0) return 'Steps: the run called no tools.';
  const lines = calls.slice(0, MAX_STEPS).map(({ name, args, result, status, error }, i) => {
    // One line per step: a line break in a result must not imitate another step.
    const failed =
      error === undefined && status !== 'error'
        ? {}
        : { failed: shortly(error?.message ?? status) };
    return escapeJsonLine({
      step: i + 1,
      tool: name,
      args: args === undefined ? undefined : shortly(args),
      result: result === undefined ? undefined : shortly(result),
      ...failed,
    });
  });
  const more = calls.length > MAX_STEPS ? [`… and ${calls.length - MAX_STEPS} more`] : [];
  return ['Steps of the run in order, one JSON object per line:', ...lines, ...more].join('\n');
}
