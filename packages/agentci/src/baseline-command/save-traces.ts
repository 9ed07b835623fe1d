import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { JUDGE_MODES, type JudgeMode } from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminal } from '@agentci/lib/text';
import type { CaseName, QueryResult } from '@agentci/results';
import {
  baselinePath,
  type Precheck,
  type SaveBaselineInput,
  type SavedBaseline,
  saveBaseline,
} from '@agentci/run';
import type { Trace } from '@agentci/trace';
import { Option } from 'commander';
import type { Io } from '../cli/io.ts';
import { redactTrace } from '../import/redact-trace.ts';
import { folderOf, judgeCacheOf } from '../stored-runs/spec-folders.ts';
import type { BaselinePlace } from './baseline-place.ts';

export interface SaveOptions {
  readonly version: string;
  readonly forceSave?: boolean;
  readonly overwrite?: boolean;
  readonly judge?: JudgeMode;
  readonly judgeCache?: string;
  readonly json?: boolean;
  /** False with --no-redact. */
  readonly redact?: boolean;
}

export const judgeOption = (): Option =>
  new Option(
    '--judge <mode>',
    'rubrics in the precheck: call the judge, use stored verdicts only, or leave them open',
  )
    .choices([...JUDGE_MODES])
    .default('live');

/** A query that was not saved, with the reason. */
export interface Refused {
  readonly query_id: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** Maximum number of runs per query to try until one passes. */
const MAX_TRIED = 20;

/** Fails early, before an agent runs for nothing. */
export function refuseExisting(
  cases: readonly CaseName[],
  place: BaselinePlace,
  options: SaveOptions,
  io: Io,
): void {
  if (options.overwrite) return;
  for (const { id: queryId, cell } of cases) {
    const file = baselinePath({
      dir: place.dir,
      agent: place.suite.agent,
      version: options.version,
      queryId,
      cell,
    });
    if (existsSync(resolve(io.cwd, file))) {
      throw new UserError('FILE_EXISTS', `${file} exists already`, {
        hint: 'Choose another --version, or replace it with --overwrite.',
      });
    }
  }
}

/**
 * Saves the traces of each query, reports the outcome and returns the exit code: 1 if a precheck
 * failed, 2 if it could not tell.
 */
export async function saveTraces(
  input: BaselinePlace & {
    readonly byQuery: ReadonlyMap<string, readonly Trace[]>;
    readonly refused?: readonly Refused[];
    /** Verdicts of the run that the traces come from. */
    readonly verdicts?: ReadonlyMap<string, QueryResult>;
  },
  options: SaveOptions,
  io: Io,
): Promise<number> {
  const saved: SavedBaseline[] = [];
  const refused: Refused[] = [...(input.refused ?? [])];
  for (const [queryId, traces] of input.byQuery) {
    try {
      saved.push(
        await saveFirstGood(traces.slice(0, MAX_TRIED), {
          ...toInput(input, queryId, options, io),
          verdict: input.verdicts?.get(queryId),
        }),
      );
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const { code, message, hint } = error;
      refused.push({ query_id: queryId.split('\0')[0]!, code, message, hint });
    }
  }
  report(saved, refused, options, io);
  if (refused.some(({ code }) => code === 'PRECHECK_FAILED')) return 1;
  return refused.length > 0 || saved.length === 0 ? 2 : 0;
}

/**
 * Masks keys and passwords as `import --redact` does. Other text stays, because later runs are
 * compared with it.
 */
const withoutSecrets = (trace: Trace): Trace =>
  redactTrace(trace, { names: false, personal: false }).trace;

type InputWithoutTrace = Omit<SaveBaselineInput, 'trace'>;

function toInput(
  { suite, dir }: BaselinePlace,
  queryId: string,
  options: SaveOptions,
  io: Io,
): InputWithoutTrace {
  return {
    suite,
    dir,
    version: options.version,
    queryId,
    force: options.forceSave ?? false,
    overwrite: options.overwrite ?? false,
    judge: options.judge ?? 'live',
    judgeCacheDir: judgeCacheOf(folderOf(suite, io), options.judgeCache, io),
    env: io.env,
    clean: options.redact !== false ? withoutSecrets : undefined,
    // Saves existing traces even after Ctrl-C. An aborted signal would leave them unjudged.
    signal: io.signal.aborted ? undefined : io.signal,
    now: io.now,
  };
}

/**
 * A flaky query has good runs too, so the first passing one is kept. With --force, the first run is
 * kept.
 */
async function saveFirstGood(
  traces: readonly Trace[],
  input: InputWithoutTrace,
): Promise<SavedBaseline> {
  let first: UserError | undefined;
  const [forced] = traces;
  if (input.force && forced !== undefined) return saveBaseline({ ...input, trace: forced });
  for (const trace of traces) {
    try {
      return await saveBaseline({ ...input, trace });
    } catch (error) {
      if (!(error instanceof UserError) || !error.code.startsWith('PRECHECK_')) throw error;
      first ??= error;
    }
  }
  throw first ?? new UserError('NO_TRACE', `no trace of "${input.queryId}" to save`);
}

function howSaved({ status, checks, problems }: Precheck, isForced: boolean): string {
  const decided = checks.filter((check) => check.status !== 'skip').length;
  const passed = `precheck passed, ${decided} of ${checks.length} ${checks.length === 1 ? 'check' : 'checks'} decided`;
  if (isForced)
    return problems.length > 0
      ? `forced: ${problems.join('; ')}`
      : 'forced, so it is used only when named';
  return status === 'unchecked' ? 'the query has no checks, so it is used only when named' : passed;
}

function report(
  saved: readonly SavedBaseline[],
  refused: readonly Refused[],
  options: SaveOptions,
  io: Io,
): void {
  if (options.json) {
    const document = {
      schema: 'agentci.saved/1',
      version: options.version,
      saved: saved.map(({ file, baseline }) => ({
        query_id: baseline.query_id,
        cell: baseline.cell,
        file,
        precheck_passed: baseline.metadata.precheck_passed,
        forced: baseline.metadata.forced,
      })),
      refused,
    };
    io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return;
  }
  for (const { file, precheck, baseline } of saved)
    io.stdout.write(
      escapeTerminal(`saved ${file} (${howSaved(precheck, baseline.metadata.forced ?? false)})\n`),
    );
  for (const { code, message, hint } of refused) {
    io.stderr.write(
      escapeTerminal(
        `agentci: ${message} [${code}]\n${hint === undefined ? '' : `  hint: ${hint}\n`}`,
      ),
    );
  }
}
