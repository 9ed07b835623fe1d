import { canonicalJson } from '@agentci/lib/data';
import type { RunResult, UnusedResults } from '@agentci/results';
import { type CaseName, caseKey } from '@agentci/results';
import type { AuditParts, JudgeParts, RunParts, SeenTools, SuiteMetricParts } from './run-parts.ts';
import type { SourceReport } from './source.ts';

type Usage = RunResult['judge'];

/**
 * Joins the parts of all shards into those of one run, in the order of the spec, so that the
 * verdict is the same as without shards.
 */
export function joinParts(
  all: readonly RunParts[],
  cases: readonly CaseName[],
): RunParts | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const positions = new Map(cases.map((each, at) => [caseKey(each), at]));
  const ids = new Map<string, number>();
  for (const { id } of cases) if (!ids.has(id)) ids.set(id, ids.size);
  const users = all.flatMap(({ user }) => user ?? []);
  const audits = all.flatMap(({ audit }) => audit ?? []);
  const unused = joinUnused(all.flatMap((parts) => parts.unused ?? []));
  const hint = all.find((parts) => parts.hint !== undefined)?.hint;
  const hasMaxCost = all.some(({ unpricedRuns }) => unpricedRuns !== undefined);
  return {
    strict: all.some(({ strict }) => strict),
    models: distinct(all.flatMap(({ models = [] }) => models)).sort(),
    recorded: {
      // Every shard reads all recordings, so each sees those that match no query.
      checks: distinct(all.flatMap(({ recorded }) => recorded.checks)),
      notices: distinct(all.flatMap(({ recorded }) => recorded.notices)),
      unmatched: Math.max(...all.map(({ recorded }) => recorded.unmatched)),
      isAll: all.every(({ recorded }) => recorded.isAll) ? true : undefined,
    },
    late: {
      checks: firstById(all.flatMap(({ late }) => late.checks)),
      inReplay: all.some(({ late }) => late.inReplay),
    },
    outside: firstById(all.flatMap(({ outside }) => outside)),
    tools: joinTools(all.map(({ tools }) => tools)),
    judge: joinJudges(
      all.map(({ judge }) => judge),
      ids,
    ),
    user: users.length !== 0 ? sumUsage(users) : undefined,
    audit: audits.length !== 0 ? joinAudits(audits) : undefined,
    unused,
    unpricedRuns: hasMaxCost ? sum(all.map(({ unpricedRuns = 0 }) => unpricedRuns)) : undefined,
    baselines: distinct(all.flatMap(({ baselines }) => baselines)),
    hint,
    matrix: first.matrix,
    metrics: joinMetrics(
      all.flatMap(({ metrics }) => metrics),
      positions,
    ),
  };
}

/** Undefined if there are none. */
/** Joins the reports of all sources of one run. */
export function joinReports(
  reports: readonly SourceReport[],
  isRecorded: boolean,
): Pick<RunParts, 'recorded' | 'user' | 'unused'> {
  const users = reports.flatMap(({ user }) => user ?? []);
  return {
    recorded: {
      checks: reports.flatMap(({ checks = [] }) => checks),
      notices: reports.flatMap(({ notices = [] }) => notices),
      unmatched: sum(reports.map(({ unmatched = 0 }) => unmatched)),
      isAll: isRecorded || undefined,
    },
    user: users.length === 0 ? undefined : sumUsage(users),
    unused: joinUnused(reports.flatMap(({ unused }) => unused ?? [])),
  };
}

export const joinUnused = (all: readonly UnusedResults[]): UnusedResults | undefined =>
  all.length === 0
    ? undefined
    : {
        results: sum(all.map(({ results }) => results)),
        cost_usd: sum(all.map(({ cost_usd }) => cost_usd)),
      };

function joinTools(all: readonly SeenTools[]): SeenTools {
  const names = (key: 'known' | 'ruled' | 'constrained' | 'forbidden'): string[] =>
    distinct(all.flatMap((one) => one[key]));
  return {
    isBlind: all.some(({ isBlind }) => isBlind),
    known: names('known'),
    ruled: names('ruled'),
    constrained: names('constrained'),
    forbidden: names('forbidden'),
  };
}

function joinJudges(all: readonly JudgeParts[], ids: ReadonlyMap<string, number>): JudgeParts {
  const failures = new Map<string, string>();
  for (const judge of all)
    for (const [kind, message] of judge.failures)
      if (!failures.has(kind)) failures.set(kind, message);
  const samples = all.flatMap(({ sample }) => sample ?? []);
  const inOrder = (a: string, b: string): number => (ids.get(a) ?? 0) - (ids.get(b) ?? 0);
  return {
    usage: sumUsage(all.map(({ usage }) => usage)),
    off: sum(all.map(({ off }) => off)),
    failures: [...failures],
    unpriced: distinct(all.flatMap(({ unpriced }) => unpriced)),
    sample:
      samples.length !== 0
        ? {
            share: samples[0]!.share,
            sampled: samples.flatMap(({ sampled }) => sampled).sort(inOrder),
            of: sum(samples.map(({ of }) => of)),
          }
        : undefined,
  };
}

/** A judge that was not asked reports only that. */
function sumUsage(all: readonly Usage[]): Usage {
  const used = all.filter(({ calls, cached = 0 }) => calls + cached > 0);
  const [first] = used;
  if (first === undefined) return all[0] ?? { calls: 0, cost_usd: null };
  const total = (key: 'cached' | 'input_tokens' | 'output_tokens'): Partial<Usage> =>
    used.every((one) => one[key] === undefined)
      ? {}
      : { [key]: sum(used.map((one) => one[key] ?? 0)) };
  const costs = used.map(({ cost_usd }) => cost_usd);
  const joined: Record<string, unknown> = {
    calls: sum(used.map(({ calls }) => calls)),
    cost_usd: costs.some((cost) => cost === null) ? null : sum(costs as number[]),
    ...total('cached'),
    ...total('input_tokens'),
    ...total('output_tokens'),
  };
  // In the order of the judge, because reports are compared byte by byte.
  return Object.fromEntries(
    Object.keys(first).map((key) => [key, joined[key]]),
  ) as unknown as Usage;
}

function joinAudits(all: readonly AuditParts[]): AuditParts {
  const total = (
    key: 'conversations' | 'faulty' | 'messages' | 'faulty_messages' | 'undecided',
  ): number => sum(all.map((one) => one[key]));
  const why = all.find((one) => one.why !== undefined)?.why;
  const asked = all.map(({ judge }) => judge).filter(({ calls }) => calls > 0);
  const costs = asked.map(({ cost_usd }) => cost_usd);
  return {
    conversations: total('conversations'),
    faulty: total('faulty'),
    messages: total('messages'),
    faulty_messages: total('faulty_messages'),
    undecided: total('undecided'),
    faults: all.flatMap(({ faults }) => faults),
    judge: {
      calls: sum(asked.map(({ calls }) => calls)),
      cost_usd:
        asked.length === 0 || costs.some((cost) => cost === null) ? null : sum(costs as number[]),
    },
    why,
  };
}

/** One group per metric and parameters with the runs of all shards, in the order of the spec. */
function joinMetrics(
  all: readonly SuiteMetricParts[],
  positions: ReadonlyMap<string, number>,
): SuiteMetricParts[] {
  const at = ({ inputs }: SuiteMetricParts): number =>
    positions.get(caseKey(inputs[0]?.of ?? { id: '' })) ?? 0;
  const groups = new Map<string, SuiteMetricParts[]>();
  for (const part of [...all].sort((a, b) => at(a) - at(b))) {
    const key = canonicalJson(part.request);
    groups.set(key, [...(groups.get(key) ?? []), part]);
  }
  return [...groups.values()].map((parts) => ({
    ...parts[0]!,
    inputs: parts
      .flatMap(({ inputs }) => inputs)
      .sort(
        (a, b) => positions.get(caseKey(a.of))! - positions.get(caseKey(b.of))! || a.run - b.run,
      ),
  }));
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Distinct by JSON, in order of first occurrence. */
function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

const firstById = <T extends { readonly id: string }>(checks: readonly T[]): T[] =>
  checks.filter(({ id }, at) => checks.findIndex((one) => one.id === id) === at);
