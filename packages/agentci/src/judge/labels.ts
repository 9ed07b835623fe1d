import type { WrittenRubric } from './rubric.ts';

/** One line of a labels file: an answer and what a person said of it. */
export interface Label {
  readonly id: string;
  readonly query: string;
  readonly answer: string;
  readonly human: boolean;
  readonly context?: readonly string[];
  /** A rubric of its own, instead of the one given for all. */
  readonly rubric?: WrittenRubric;
}

export interface LabelProblem {
  readonly line: number;
  readonly message: string;
}

const MAX_LABELS = 100_000;
const PASS = new Set<unknown>([true, 1, 'pass', 'good', 'yes']);
const FAIL = new Set<unknown>([false, 0, 'fail', 'bad', 'no']);

/** Reads labels from JSON Lines: `{"query", "answer", "label": "pass" | "fail"}` and, if wanted, `id`, `context`, `rule`, `template`. */
export function parseLabels(text: string): { labels: Label[]; problems: LabelProblem[] } {
  const labels: Label[] = [];
  const problems: LabelProblem[] = [];
  const seen = new Set<string>();
  for (const [index, source] of text.split('\n').entries()) {
    if (source.trim() === '') continue;
    const line = index + 1;
    const label = labels.length >= MAX_LABELS ? `there are more than ${MAX_LABELS} labels` : readLabel(source, line);
    if (typeof label === 'string') problems.push({ line, message: label });
    else if (seen.has(label.id)) problems.push({ line, message: `the id "${label.id}" is used twice` });
    else {
      seen.add(label.id);
      labels.push(label);
    }
    if (problems.length >= 50) break;
  }
  return { labels, problems };
}

function readLabel(source: string, line: number): Label | string {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return 'not valid JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'a label is a JSON object';
  const field = (name: string): unknown =>
    Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  const text = (name: string): string | undefined => {
    const found = field(name);
    return typeof found === 'string' ? found : undefined;
  };
  const answer = text('answer');
  if (answer === undefined) return 'needs "answer", a text';
  const human = PASS.has(field('label')) ? true : FAIL.has(field('label')) ? false : undefined;
  if (human === undefined) return 'needs "label", which is "pass" or "fail"';
  const context = field('context');
  const documents = (Array.isArray(context) ? context : [context]).filter((item) => typeof item === 'string');
  const rule = text('rule');
  const template = text('template');
  return {
    id: text('id') ?? `line-${line}`,
    query: text('query') ?? '',
    answer,
    human,
    ...(documents.length > 0 ? { context: documents } : {}),
    ...(rule === undefined && template === undefined ? {} : { rubric: { rule, template } }),
  };
}
