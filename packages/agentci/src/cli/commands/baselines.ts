import { escapeTerminalLine } from '@agentci/lib/text';
import type { BaselineFile } from '@agentci/run';
import { findBaselines } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { baselinePlaceToRead, type PlaceOptions } from '../../baseline-command/baseline-place.ts';
import type { CliCommand } from '../cli-command.ts';

interface Options extends PlaceOptions {
  readonly json?: boolean;
}

export const command: CliCommand = {
  name: 'baselines',
  summary: 'list the saved baselines: version, queries, model, age, precheck, spec drift',
  configure: (parser) => {
    parser
      .option('-c, --config <file>', 'the spec (default: agentci_spec.yaml, when there is one)')
      .option('--agent <name>', 'only baselines of this agent')
      .option('--baseline-dir <dir>', "where baselines are, instead of the spec's baseline_dir")
      .option('--json', 'as JSON')
      .addHelpText('after', '\nExample:\n  agentci baselines --agent rag-agent');
  },
  run: async ({ options: given, io }) => {
    const options = given as Options;
    const { suite, dir } = await baselinePlaceToRead(options, io);
    const { files, broken } = findBaselines({ dir, agent: options.agent });
    const versions = summarize(files, suite, io.now());
    if (options.json) {
      const unreadable = broken.map(({ file, version, error }) => ({
        file,
        version,
        message: error.message,
      }));
      const document = { schema: 'agentci.baselines/1', dir, baselines: versions, unreadable };
      io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    } else if (versions.length === 0) {
      io.stdout.write(
        `no baselines in ${escapeTerminalLine(dir)}; save one with "agentci save" or "agentci record"\n`,
      );
    } else {
      io.stdout.write(table(versions));
    }
    for (const { error } of broken)
      io.stderr.write(`agentci: ${escapeTerminalLine(error.message)} [${error.code}]\n`);
    return broken.length > 0 ? 2 : 0;
  },
};

interface Version {
  readonly agent: string;
  readonly version: string;
  readonly queries: readonly string[];
  readonly models: readonly string[];
  /** Of the newest file. */
  readonly captured_at: string | null;
  readonly age_days: number | null;
  readonly precheck: 'passed' | 'forced' | 'unknown';
  /** Whether the spec is still the one it was captured with; unknown without a spec. */
  readonly spec: 'same' | 'changed' | 'unknown';
  /** Queries the spec no longer has. */
  readonly orphans: readonly string[];
}

const DAY_MS = 86_400_000;

function summarize(
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

function table(versions: readonly Version[]): string {
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
