import { RUBRIC_KEYS } from '@agentci/checks';
import { DEFAULT_THRESHOLD, judgeThreshold, resolveRubric } from '@agentci/judge';
import { sha256Hex } from '@agentci/lib/data';
import type { CheckStatus, LabelVerdict, QueryResult } from '@agentci/results';
import { caseKey, caseText } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import { itemsOf, type RubricItem } from '@agentci/spec';

/** An answer with one of its rubrics, and the judge's verdict. */
export interface LabelCase {
  /** Identical for the same answer to the same question in every run. */
  readonly id: string;
  readonly result: QueryResult;
  readonly answer: string;
  readonly query?: Query;
  readonly rubric?: RubricItem;
  readonly minScore: number;
  readonly judge: {
    readonly status: CheckStatus | null;
    readonly verdicts: readonly LabelVerdict[];
  };
  /** 0 to 1. Null without a verdict of the judge. */
  readonly uncertainty: number | null;
}

/** Every answer of a run, once per rubric. A query without rubrics is labeled as a whole. */
export function labelCases(results: readonly QueryResult[], suite: Suite | undefined): LabelCase[] {
  const queries = new Map(suite?.queries.map((query) => [caseKey(query), query]));
  const cases = new Map<string, LabelCase>();
  for (const result of results) {
    if (result.answer === null) continue;
    const query = queries.get(caseKey(result));
    // If the spec now asks a different question, it does not describe this answer.
    const isSame = query !== undefined && query.query === result.query;
    const rubrics = isSame ? RUBRIC_KEYS.flatMap((key) => itemsOf(query, key)) : [];
    for (const one of rubrics.length === 0
      ? [caseOf(result, result.answer)]
      : rubrics.map((rubric) => caseOf(result, result.answer!, query, rubric)))
      if (!cases.has(one.id)) cases.set(one.id, one);
  }
  return [...cases.values()];
}

function caseOf(
  result: QueryResult,
  answer: string,
  query?: Query,
  rubric?: RubricItem,
): LabelCase {
  const resolved = rubric === undefined ? undefined : resolveRubric(rubric.written);
  const minScore = judgeThreshold(resolved?.threshold ?? DEFAULT_THRESHOLD);
  const verdicts = resolved === undefined ? [] : verdictsOn(result, rubric!.place.id, resolved);
  const check = result.correctness.checks.find(
    ({ id, limit }) => id === rubric?.place.id && limit === minScore,
  );
  const what = JSON.stringify([
    result.query,
    answer,
    resolved === undefined ? null : [resolved.id, resolved.version],
  ]);
  return {
    id: `${caseText(result)}#${sha256Hex(what).slice(0, 12)}`,
    result,
    answer,
    query,
    rubric,
    minScore,
    judge: { status: verdicts.length === 0 ? null : (check?.status ?? null), verdicts },
    uncertainty: uncertaintyOf(verdicts, minScore),
  };
}

function verdictsOn(
  { correctness }: QueryResult,
  check: string,
  rubric: { readonly id: string; readonly version: string },
): LabelVerdict[] {
  const records = Array.isArray(correctness.details.judge)
    ? (correctness.details.judge as Stored[])
    : [];
  return records.flatMap(({ check: of, rubric: by, model, score, label, rationale }) =>
    of === check &&
    by?.id === rubric.id &&
    by.version === rubric.version &&
    typeof score === 'number'
      ? [{ model: String(model), score, label: String(label), rationale: String(rationale) }]
      : [],
  );
}

interface Stored {
  readonly check?: string;
  readonly rubric?: { readonly id?: string; readonly version?: string };
  readonly model?: string;
  readonly score?: unknown;
  readonly label?: unknown;
  readonly rationale?: unknown;
}

/**
 * Closeness to the opposite verdict. Each verdict is some points above or below the passing score,
 * and disagreeing judges cancel out. A label that contradicts its score halves the certainty.
 */
export function uncertaintyOf(
  verdicts: readonly Pick<LabelVerdict, 'score' | 'label'>[],
  minScore: number,
): number | null {
  if (verdicts.length === 0) return null;
  const line = minScore - 0.5;
  const sum = verdicts.reduce((all, { score, label }) => {
    const agrees = label === (score >= minScore ? 'pass' : 'fail');
    return all + (score - line) * (agrees ? 1 : 0.5);
  }, 0);
  return 1 / (1 + Math.abs(sum / verdicts.length));
}

/**
 * Sorts the least certain first and cases without a verdict last. Breaks ties by a hash, so that no
 * part of a suite comes first.
 */
export function byUncertainty(cases: readonly LabelCase[]): LabelCase[] {
  const place = new Map(cases.map(({ id }) => [id, sha256Hex(id)]));
  return [...cases].sort(
    (a, b) =>
      (b.uncertainty ?? -1) - (a.uncertainty ?? -1) ||
      (place.get(a.id)! < place.get(b.id)! ? -1 : 1),
  );
}
