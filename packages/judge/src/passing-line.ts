import { plural } from '@agentci/lib/text';
import { type ResolvedRubric, resolveRubric, type WrittenRubric } from './rubric.ts';
import { judgeThreshold } from './threshold.ts';

/**
 * Source of a label's passing score: `--threshold`, the label, the spec's rubric with the same
 * words, the rubric's default.
 */
export type LineSource = 'option' | 'label' | 'spec' | 'default';

export interface PassingLine {
  readonly min_score: number;
  readonly from: LineSource;
  /** The spec's current score, if it differs. */
  readonly spec?: number;
}

export interface PassingLines {
  readonly min_score: number;
  readonly from: LineSource;
  readonly labels: number;
}

/** Passing scores of a spec, by rubric. */
export class SpecLines {
  readonly #scores = new Map<string, Set<number>>();

  constructor(rubrics: Iterable<WrittenRubric>) {
    for (const written of rubrics) {
      const rubric = resolveRubric(written);
      const key = keyOf(rubric);
      const known = this.#scores.get(key) ?? new Set<number>();
      this.#scores.set(key, known.add(judgeThreshold(rubric.threshold)));
    }
  }

  /** Undefined if the spec has no such rubric, or several passing scores for it. */
  of(rubric: ResolvedRubric): number | undefined {
    const known = this.#scores.get(keyOf(rubric));
    return known?.size === 1 ? [...known][0] : undefined;
  }
}

const keyOf = ({ id, version }: ResolvedRubric): string => `${id}\n${version}`;

/** The passing score of an answer by the spec's current check. */
export function passingLine(
  written: WrittenRubric,
  { option, spec }: { readonly option: number | undefined; readonly spec: SpecLines },
): PassingLine {
  const rubric = resolveRubric(written);
  const inSpec = spec.of(rubric);
  if (option !== undefined) return { min_score: judgeThreshold(option), from: 'option' };
  if (written.threshold !== undefined) {
    const min_score = judgeThreshold(written.threshold);
    return {
      min_score,
      from: 'label',
      spec: inSpec === undefined || inSpec === min_score ? undefined : inSpec,
    };
  }
  return inSpec === undefined
    ? { min_score: judgeThreshold(rubric.threshold), from: 'default' }
    : { min_score: inSpec, from: 'spec' };
}

/** Number of labels by passing score. */
export function countLines(lines: readonly PassingLine[]): PassingLines[] {
  const counted = new Map<string, { min_score: number; from: LineSource; labels: number }>();
  for (const { min_score, from } of lines) {
    const key = `${min_score} ${from}`;
    const known = counted.get(key) ?? { min_score, from, labels: 0 };
    counted.set(key, { ...known, labels: known.labels + 1 });
  }
  return [...counted.values()].sort((a, b) => a.min_score - b.min_score);
}

const SOURCES: Readonly<Record<LineSource, string>> = {
  option: 'from --threshold',
  label: 'as in the labels',
  spec: 'as in the spec; the labels name no threshold',
  default: "the rubric's default; neither the labels nor the spec name a threshold",
};

/** `a score of 4 or more passes (as in the labels)`, for each score in use. */
export function describeLines(lines: readonly PassingLines[]): string {
  const one = ({ min_score, from }: PassingLines): string =>
    `${min_score} or more passes (${SOURCES[from]})`;
  return lines.length === 1
    ? `a score of ${one(lines[0]!)}`
    : `of ${lines.map((line) => `${plural(line.labels, 'label')} a score of ${one(line)}`).join(', of ')}`;
}

/** Reports labels that were given for another passing score than the spec has now. */
export function describeMoved(lines: readonly PassingLine[]): string | undefined {
  const moved = lines.filter(({ spec }) => spec !== undefined);
  if (moved.length === 0) return undefined;
  const scores = [
    ...new Set(moved.map(({ min_score, spec }) => `${spec} rather than ${min_score}`)),
  ];
  return `note: for ${plural(moved.length, 'label')} the spec now asks for a score of ${scores.join(', ')}: this is not the agreement of that gate`;
}
