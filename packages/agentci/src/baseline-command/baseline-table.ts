import { escapeTerminalLine } from '@agentci/lib/text';
import type { BaselineFile } from '@agentci/run';
import type { Suite } from '@agentci/spec';

interface Version {
  readonly agent: string;
  readonly version: string;
  readonly queries: readonly string[];
  readonly models: readonly string[];
  /** Capture time of the newest file. */
  readonly captured_at: string | null;
  readonly age_days: number | null;
  readonly precheck: 'passed' | 'forced' | 'unknown';
  /** Whether the spec has changed since the capture. Unknown without a spec. */
  readonly spec: 'same' | 'changed' | 'unknown';
  /** Queries that are no longer in the spec. */
  readonly orphans: readonly string[];
}

const DAY_MS = 86_400_000;

export function summarize(
  files: readonly BaselineFile[],
  suite: Suite | undefined,
  now: number,
): Version[] {
  const groups = new Map<string, BaselineFile[]>();
  for (const file of files) {
    const key = JSON.stringify([file.agent, file.version]);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()].map((group) => {
    const [{ agent, version }] = group as [BaselineFile];
    const judged = suite?.agent === agent ? suite : undefined;
    const captured =
      group
        .map((file) => file.captured_at ?? '')
        .sort()
        .at(-1) || null;
    const time = captured === null ? Number.NaN : Date.parse(captured);
    const hashes = new Set(group.map((file) => file.metadata.spec_hash));
    let spec: 'unknown' | 'same' | 'changed';
    if (judged === undefined || hashes.has(undefined)) spec = 'unknown';
    else if (hashes.size === 1 && hashes.has(judged.hash)) spec = 'same';
    else spec = 'changed';
    let precheck: 'unknown' | 'forced' | 'passed';
    if (group.some((file) => file.metadata.forced || file.metadata.precheck_passed === false))
      precheck = 'forced';
    else if (group.every((file) => file.metadata.precheck_passed === true)) precheck = 'passed';
    else precheck = 'unknown';
    return {
      agent,
      version,
      queries: group.map((file) => file.query_id ?? file.query),
      models: [...new Set(group.flatMap((file) => file.metadata.model ?? []))],
      captured_at: captured,
      age_days: Number.isNaN(time) ? null : Math.max(0, Math.floor((now - time) / DAY_MS)),
      precheck,
      spec,
      orphans:
        judged === undefined
          ? []
          : group.filter((file) => !isOf(file, judged)).map((file) => file.query_id ?? file.query),
    };
  });
}

const isOf = (file: BaselineFile, suite: Suite): boolean =>
  suite.queries.some((query) => query.id === file.query_id || query.query === file.query);

const MAX_NAMED = 4;

export function table(versions: readonly Version[]): string {
  const rows = versions.map(
    ({ agent, version, queries, models, age_days, precheck, spec, orphans }) => {
      const named = queries.slice(0, MAX_NAMED).join(', ');
      const more = queries.length > MAX_NAMED ? ` and ${queries.length - MAX_NAMED} more` : '';
      const gone = orphans.length > 0 ? ` (no longer in the spec: ${orphans.join(', ')})` : '';
      let age: string;
      if (age_days === null) age = '-';
      else if (age_days === 0) age = 'today';
      else age = `${age_days} d`;
      return [
        agent,
        version,
        `${queries.length}: ${named}${more}${gone}`,
        models.join(', ') || '-',
        age,
        precheck,
        spec,
      ].map(escapeTerminalLine);
    },
  );
  const all = [['AGENT', 'VERSION', 'QUERIES', 'MODEL', 'AGE', 'PRECHECK', 'SPEC'], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map(
      (row) =>
        `${row
          .map((text, i) => text.padEnd(widths[i]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
