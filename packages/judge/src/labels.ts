import type { RubricExample, WrittenRubric } from './rubric.ts';

/** One line of a labels file: an answer and a human label. */
export interface Label {
  readonly id: string;
  readonly query: string;
  readonly answer: string;
  readonly human: boolean;
  readonly context?: readonly string[];
  /** Overrides the common rubric. */
  readonly rubric?: WrittenRubric;
  /** The judge must rely on the context alone, as in `hallucination_check`. */
  readonly isGrounded?: boolean;
  /** The answer is a conversation in the judge's format. */
  readonly isConversation?: boolean;
  /** The rater. Without one, an id has one label. */
  readonly rater?: string;
  readonly score?: number;
  readonly note?: string;
  /** Time in ISO 8601. */
  readonly at?: string;
  /** Given after the rater saw the verdicts of the judge and others. */
  readonly revised?: boolean;
  /** The rater's label before that. */
  readonly blind?: boolean;
}

/** The label before other opinions were shown, which agreement is measured on. */
export const asBlind = (label: Label): Label =>
  label.blind === undefined ? label : { ...label, human: label.blind };

export interface LabelProblem {
  readonly line: number;
  readonly message: string;
  /** The incomplete last line of a file: its writer was killed and never confirmed it. */
  readonly isTorn?: boolean;
}

const MAX_LABELS = 100_000;
const MAX_PROBLEMS = 50;
const NOT_JSON = 'not valid JSON';
const PASS = new Set<unknown>([true, 1, 'pass', 'good', 'yes']);
const FAIL = new Set<unknown>([false, 0, 'fail', 'bad', 'no']);

/** Withdraws the rater's label. */
type Withdrawn = Pick<Label, 'id' | 'rater' | 'at' | 'revised'> & { readonly human: null };

/** The labels of one or more files. A rater's later label replaces the earlier one. */
export class LabelBook {
  readonly #labels = new Map<string, Label | Withdrawn>();
  readonly #blind = new Map<string, boolean>();
  #lines = 0;

  /**
   * Adds a file's lines and returns their problems. Lines without an `id` get one that starts with
   * `name`.
   */
  add(text: string, name = ''): LabelProblem[] {
    const problems: LabelProblem[] = [];
    // Some Windows editors add a byte order mark.
    const lines = text.replace(/^\ufeff/, '').split('\n');
    for (const [index, source] of lines.entries()) {
      if (source.trim() === '') continue;
      const line = index + 1;
      const message =
        ++this.#lines > MAX_LABELS
          ? `there are more than ${MAX_LABELS} labels`
          : this.#take(source, `${name}line-${line}`);
      if (message !== undefined)
        problems.push({
          line,
          message,
          isTorn: message === NOT_JSON && line === lines.length ? true : undefined,
        });
      if (problems.length >= MAX_PROBLEMS) break;
    }
    return problems;
  }

  labels(): Label[] {
    return [...this.#labels].flatMap(([key, label]): Label[] => {
      if (label.human === null) return [];
      const blind = label.revised === true ? this.#blind.get(key) : undefined;
      return [blind === undefined ? label : { ...label, blind }];
    });
  }

  /**
   * Whether this rater has labelled this answer before, and so has seen other opinions, even if the
   * label was withdrawn.
   */
  hasSeen(rater: string, id: string): boolean {
    return this.#labels.has(keyOf({ rater, id }));
  }

  #take(source: string, name: string): string | undefined {
    const label = readLabel(source, name);
    if (typeof label === 'string') return label;
    const key = keyOf(label);
    const before = this.#labels.get(key);
    if (before !== undefined && label.rater === undefined)
      return `the id "${label.id}" is used twice`;
    // Lines of one file are in order. Lines of two files have only their times.
    if (before?.at !== undefined && label.at !== undefined && before.at > label.at)
      return undefined;
    this.#labels.set(key, label);
    if (label.human !== null && label.revised !== true) this.#blind.set(key, label.human);
    return undefined;
  }
}

const keyOf = ({ rater, id }: Pick<Label, 'rater' | 'id'>): string =>
  JSON.stringify([rater ?? null, id]);

/**
 * Reads labels from JSON Lines: `{"query", "answer", "label": "pass" | "fail"}`, with optional
 * `id`, `context`, `rule`, `template`, `threshold`, `rater`, `score`, `note`, `revised`. With a
 * `rater`, a `null` label withdraws the earlier one.
 */
export function parseLabels(text: string): { labels: Label[]; problems: LabelProblem[] } {
  const book = new LabelBook();
  const problems = book.add(text);
  return { labels: book.labels(), problems };
}

function readLabel(source: string, name: string): Label | Withdrawn | string {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return NOT_JSON;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'a label is a JSON object';
  const field = (key: string): unknown =>
    Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  const text = (key: string): string | undefined => {
    const found = field(key);
    return typeof found === 'string' ? found : undefined;
  };
  const id = text('id') ?? name;
  const rater = text('rater');
  const at = text('at');
  const signed = {
    rater,
    at,
    revised: field('revised') === true ? true : undefined,
  };
  if (rater !== undefined && field('label') === null) return { id, human: null, ...signed };
  const answer = text('answer');
  if (answer === undefined) return 'needs "answer", a text';
  let human: boolean | undefined;
  if (PASS.has(field('label'))) human = true;
  else if (FAIL.has(field('label'))) human = false;
  if (human === undefined) return 'needs "label", which is "pass" or "fail"';
  const score = field('score');
  if (score !== undefined && !isScore(score)) return '"score" is a whole number from 1 to 5';
  const context = texts(field('context'));
  const note = text('note');
  const rubric = rubricIn({ rule: text('rule'), template: text('template') }, field);
  if (typeof rubric === 'string') return rubric;
  return {
    id,
    query: text('query') ?? '',
    answer,
    human,
    context: context.length > 0 ? context : undefined,
    rubric,
    isGrounded: text('check') === 'correctness.hallucination_check' ? true : undefined,
    isConversation: field('conversation') === true ? true : undefined,
    ...signed,
    score,
    note,
  };
}

function rubricIn(
  { rule, template }: Pick<WrittenRubric, 'rule' | 'template'>,
  field: (key: string) => unknown,
): WrittenRubric | string | undefined {
  if (rule === undefined && template === undefined) return undefined;
  const scale = field('scale');
  if (scale !== undefined && (!Array.isArray(scale) || texts(scale).length !== scale.length))
    return '"scale" is a list of texts';
  const examples = field('few_shot_examples');
  if (examples !== undefined && !(Array.isArray(examples) && examples.every(isExample)))
    return '"few_shot_examples" is a list of {"output", "score"}';
  const threshold = field('threshold');
  if (
    threshold !== undefined &&
    !(typeof threshold === 'number' && threshold >= 0 && threshold <= 1)
  )
    return '"threshold" is a number from 0 to 1';
  return {
    rule,
    template,
    scale: scale === undefined ? undefined : (scale as string[]),
    few_shot_examples: examples === undefined ? undefined : (examples as RubricExample[]),
    threshold,
  };
}

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (item): item is string => typeof item === 'string',
  );

export const isScore = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 5;

const isExample = (value: unknown): boolean => {
  const { input, output, score } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof output === 'string' &&
    typeof score === 'number' &&
    (input === undefined || typeof input === 'string')
  );
};
