import { toolCalls } from '@agentci/trace';
import { type AnswerText, answersOf, caseOf } from '../input.ts';
import type { MetricInput } from '../metric.ts';

const MAX_TEXT = 1_000_000;
/** Limits untrusted arguments. */
const MAX_LEAVES = 10_000;
const MAX_DEPTH = 100;

/** A text to scan for personal data, with its origin. */
export interface ScannedText {
  readonly text: string;
  readonly location: 'input' | 'output' | 'tool_arguments';
  /** In a conversation. */
  readonly turn?: number;
  /** `seq` of the call's step, its tool, and a JSON pointer into its arguments. */
  readonly step?: number;
  readonly tool?: string;
  readonly argument?: string;
}

export interface ScanOptions {
  readonly check_input: boolean;
  readonly check_output: boolean;
  readonly check_tool_arguments: boolean;
}

/** All texts to scan, or why they cannot be: a missing part may contain any leak. */
export function scannedTexts(
  input: MetricInput,
  { check_input, check_output, check_tool_arguments }: ScanOptions,
):
  | { readonly texts: readonly ScannedText[]; readonly missing?: string }
  | { readonly reason: string } {
  const texts: ScannedText[] = [];
  let open: string | undefined;
  if (check_input) {
    const asked = messagesOf(input);
    if (asked.length === 0) return { reason: 'there is no query' };
    texts.push(...asked.map((each) => ({ ...each, location: 'input' }) as const));
  }
  if (check_output) {
    const { answers, missing } = answersOf(input);
    if (answers.length === 0) return { reason: missing ?? 'no answer captured' };
    if (answers.every(({ text }) => text.trim() === '')) return { reason: 'the answer is blank' };
    open = missing;
    texts.push(...answers.map((each) => ({ ...each, location: 'output' }) as const));
  }
  if (check_tool_arguments) {
    const found = argumentTexts(input);
    if (found === undefined) return { reason: 'tool arguments were not captured' };
    texts.push(...found);
    if (!check_input && !check_output && found.length === 0) return { reason: 'no tool arguments' };
  }
  if (!check_input && !check_output && !check_tool_arguments)
    return { reason: 'nothing is to be looked at' };
  return {
    texts: texts.map((item) => ({ ...item, text: item.text.slice(0, MAX_TEXT) })),
    missing: open,
  };
}

/** The user's messages. */
function messagesOf(input: MetricInput): readonly AnswerText[] {
  const turns = input.trace?.conversation?.turns ?? [];
  if (turns.length > 1) return turns.map(({ message, turn }) => ({ text: message, turn }));
  const { query } = caseOf(input);
  return query === undefined ? [] : [{ text: query }];
}

/**
 * Each text in the arguments separately, because an escaped line break in their JSON would hide the
 * rest.
 */
function argumentTexts({ trace }: MetricInput): ScannedText[] | undefined {
  if (trace?.captured.toolCalls !== 'full') return undefined;
  const texts: ScannedText[] = [];
  for (const call of toolCalls(trace)) {
    const common = { location: 'tool_arguments', step: call.seq, tool: call.name } as const;
    if (call.args !== undefined)
      for (const { text, pointer } of leavesOf(call.args))
        texts.push({ ...common, text, argument: pointer });
    else if (call.argsRaw !== undefined) texts.push({ ...common, text: call.argsRaw });
    else return undefined;
  }
  return texts;
}

interface Leaf {
  readonly text: string;
  readonly pointer: string;
}

/**
 * Texts, numbers and keys of a value. A value that is too large or too deep becomes one JSON text.
 */
function leavesOf(root: unknown): Leaf[] {
  const leaves: Leaf[] = [];
  const isWhole = visit(root, '', 0, leaves);
  return isWhole ? leaves : [{ text: JSON.stringify(root), pointer: '' }];
}

function visit(value: unknown, pointer: string, depth: number, leaves: Leaf[]): boolean {
  if (depth > MAX_DEPTH || leaves.length > MAX_LEAVES) return false;
  if (typeof value === 'string' || typeof value === 'number')
    leaves.push({ text: String(value), pointer });
  if (typeof value !== 'object' || value === null) return true;
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    const place = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!isList) leaves.push({ text: key, pointer: place });
    if (!visit(item, place, depth + 1, leaves)) return false;
  }
  return true;
}
