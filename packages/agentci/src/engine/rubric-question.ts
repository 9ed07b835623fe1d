import type { JudgeQuestion } from '../judge/port.ts';
import { type ResolvedRubric, resolveRubric } from '../judge/rubric.ts';
import { clip } from '../layers/words.ts';
import { readContextFile } from '../spec/context-file.ts';
import type { RubricItem } from '../spec/rubric-items.ts';
import type { Query } from '../spec/suite.ts';
import { capturedCalls } from '../trace/known-calls.ts';
import type { ToolStep, Trace } from '../trace/model.ts';
import { contextOf } from '../trace/selectors.ts';
import { transcriptOf } from '../trace/turns.ts';

/** What a judge is asked about an answer, or why it cannot be asked. */
export type RubricQuestion =
  | { readonly question: JudgeQuestion; readonly rubric: ResolvedRubric }
  /** `isOpen`: nothing went wrong, there is only nothing to compare with. */
  | { readonly problem: string; readonly isOpen: boolean };

/** The question that a rubric puts about an answer: people who label answers see the same texts as the judge. */
export function rubricQuestion(
  { key, written }: Pick<RubricItem, 'key' | 'written'>,
  { query, trace, answer, dir }: { query: Query; trace: Trace; answer: string; dir: string },
): RubricQuestion {
  const rubric = resolveRubric(written);
  const context: string[] = [];
  if (written.context_file !== undefined) {
    const file = readContextFile(written.context_file, dir);
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
  return {
    rubric,
    question: {
      rubric: isGrounding ? { ...rubric, needsContext: true } : rubric,
      // A judge of a conversation sees all of it, its last answer included.
      query: query.conversation === undefined ? query.query : transcriptOf(trace),
      answer,
      ...(context.length > 0 ? { context: [...new Set(context)] } : {}),
    },
  };
}

/** The steps of the run and the expected answer, for rubrics that are about them. */
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
    texts.push(stepsText(recorded.calls));
  }
  if (needs.includes('expected')) {
    if (query.expectedOutput === undefined) return { missing: 'the query has no expected_output' };
    texts.push(`Expected answer: ${query.expectedOutput}`);
  }
  return { texts };
}

/** Long arguments and results say little to a judge. */
const MAX_SHOWN = 500;
const MAX_STEPS = 200;

function stepsText(calls: readonly ToolStep[]): string {
  if (calls.length === 0) return 'Steps: the run called no tools.';
  const lines = calls.slice(0, MAX_STEPS).map(({ name, args, result, status, error }, i) => {
    const end = error === undefined && status !== 'error' ? '' : `, failed: ${error?.message ?? status}`;
    const given =
      result === undefined ? '' : ` → ${clip(typeof result === 'string' ? result : JSON.stringify(result), MAX_SHOWN)}`;
    return `${i + 1}. ${name}(${clip(args === undefined ? '' : JSON.stringify(args), MAX_SHOWN)})${given}${end}`;
  });
  const more = calls.length > MAX_STEPS ? [`… and ${calls.length - MAX_STEPS} more`] : [];
  return ['Steps of the run, in order:', ...lines, ...more].join('\n');
}
