import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine, plural } from '@agentci/lib/text';
import type { QueryResult } from '@agentci/results';
import { removeCassetteFile, runSuite } from '@agentci/run';
import { Option } from 'commander';
import { ageDays, checkCassettes } from '../../cassette-command/check.ts';
import { dropUnused } from '../../cassette-command/drop-unused.ts';
import {
  type CassettePlace,
  cassettePlace,
  findCassettes,
  missingRuns,
  refuseUnknownId,
} from '../../cassette-command/place.ts';
import { showCassette } from '../../cassette-command/show.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { wholeNumber } from '../options.ts';
import { startProgress } from '../progress.ts';

interface Options {
  readonly id?: string;
  readonly config?: string;
  readonly dir?: string;
  readonly run?: number;
  readonly live?: number;
  readonly only?: 'missing' | 'stale';
  readonly workers?: number;
  readonly json?: boolean;
  readonly unused?: boolean;
}

const ACTIONS = ['ls', 'show', 'check', 'prune', 'rerecord'] as const;
type Action = (typeof ACTIONS)[number];

export const command: CliCommand = {
  name: 'cassette',
  summary: 'list, read, check, prune and renew recorded calls of models',
  configure: (parser) => {
    parser
      .argument('<action>', 'ls, show, check, prune or rerecord')
      .argument('[query]', 'the id of a query; show needs one')
      .option('-c, --config <file>', 'the spec (default: agentci_spec.yaml)')
      .option('--dir <dir>', "where cassettes are, instead of the spec's cassette.dir")
      .option('--run <n>', 'show: which run of the query (default: 1)', wholeNumber(1))
      .option(
        '--live <n>',
        'check: ask the providers so many stored requests again and compare the shape of answers',
        wholeNumber(1),
      )
      .addOption(
        new Option(
          '--only <which>',
          'rerecord: queries without a recording, or those that no longer fit theirs',
        ).choices(['missing', 'stale']),
      )
      .option(
        '-w, --workers <n>',
        'check, rerecord: queries in progress at a time (default: 4)',
        wholeNumber(1),
      )
      .option(
        '--unused',
        'prune: run the agent offline, and also remove exchanges that it does not ask for',
      )
      .option('--json', 'ls, check: as JSON')
      .addHelpText(
        'after',
        `
check runs the agent offline and says for each query whether its calls are still those that were recorded, and if not,
why: model, system prompt, tools, user message, earlier turn, parameters. prune removes files that no query uses. rerecord
asks the real models and replaces recordings of queries that succeed. The id of a query limits each of them to it.

Examples:
  agentci cassette ls
  agentci cassette show refund
  agentci cassette check
  agentci cassette rerecord --only stale

Exit codes: 0 all is well · 1 check found recordings that no longer fit · 2 a file cannot be read, or could not tell`,
      );
  },
  run: async ({ args, options: given, io }) => {
    const options = given as Options;
    const [action = '', id] = args;
    if (!ACTIONS.includes(action as Action))
      throw new UserError('CASSETTE_ACTION', `there is no action "${action}"`, {
        hint: `actions: ${ACTIONS.join(', ')}`,
      });
    const place = await cassettePlace(options, io);
    const only = id === undefined ? {} : { id };
    if (id !== undefined && action !== 'show')
      refuseUnknownId(id, place, { mayBeGone: action === 'ls' || action === 'prune' });
    switch (action as Action) {
      case 'ls':
        return list(place, { ...options, ...only }, io);
      case 'show':
        return show(place, id, options, io);
      case 'check':
        return checkCassettes(place, { ...options, ...only }, io);
      case 'prune':
        return prune(place, { ...options, ...only }, io);
      default:
        return rerecord(place, { ...options, ...only }, io);
    }
  },
};

const say = (io: Io, line: string): void => void io.stdout.write(`${escapeTerminalLine(line)}\n`);
const complain = (io: Io, { code, message }: UserError): void =>
  void io.stderr.write(`agentci: ${escapeTerminalLine(message)} [${code}]\n`);

function list(place: CassettePlace, options: Options, io: Io): number {
  const found = findCassettes(place, options.id);
  const missing = missingRuns(place, options.id);
  const broken = found.filter(({ error }) => error !== undefined);
  if (options.json === true) {
    const cassettes = found.map(({ file, bytes, cassette, error, orphan }) => ({
      file,
      bytes,
      ...(cassette === undefined
        ? { error: error?.message ?? '' }
        : {
            query: cassette.id,
            run: cassette.run,
            exchanges: cassette.entries.length,
            models: modelsOf(cassette.entries),
            recorded_at: cassette.recordedAt,
            age_days: ageDays(cassette.recordedAt, io.now()),
            unused: orphan ?? null,
          }),
    }));
    io.stdout.write(
      `${JSON.stringify({ schema: 'agentci.cassettes/1', dir: place.shownDir, cassettes, missing }, null, 2)}\n`,
    );
    return broken.length > 0 ? 2 : 0;
  }
  if (found.length === 0)
    say(io, `no cassettes in ${place.shownDir}; record them with: agentci test --cassette record`);
  for (const { file, bytes, cassette, orphan } of found) {
    if (cassette === undefined) continue;
    const facts = [
      plural(cassette.entries.length, 'exchange'),
      modelsOf(cassette.entries).join(', '),
      sizeText(bytes),
      ageText(ageDays(cassette.recordedAt, io.now())),
      orphan === undefined ? '' : `unused: ${orphan}`,
    ];
    say(io, `${file}  ${facts.filter(Boolean).join(' · ')}`);
  }
  for (const { id, run } of missing)
    say(io, `${id}${run === 1 ? '' : ` run ${run}`}  not recorded`);
  for (const { error } of broken) complain(io, error!);
  return broken.length > 0 ? 2 : 0;
}

const modelsOf = (entries: readonly { readonly model?: string }[]): string[] => [
  ...new Set(entries.flatMap(({ model }) => model ?? [])),
];

const sizeText = (bytes: number): string =>
  bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KB`;
const ageText = (days: number): string => (days < 1 ? 'today' : plural(Math.floor(days), 'day'));

function show(place: CassettePlace, id: string | undefined, options: Options, io: Io): number {
  const run = options.run ?? 1;
  const found = findCassettes(place);
  const wanted = found.filter(({ cassette }) => cassette?.id === id && cassette?.run === run);
  if (id === undefined || wanted.length === 0) {
    const broken = found.find(({ error }) => error !== undefined);
    const known = [...new Set(found.flatMap(({ cassette }) => cassette?.id ?? []))];
    throw new UserError(
      'CASSETTE_MISSING',
      id === undefined
        ? 'show needs the id of a query'
        : `there is no recording of run ${run} of "${id}" in ${place.shownDir}`,
      {
        hint:
          broken?.error?.message ??
          (known.length === 0
            ? 'Record one with: agentci test --cassette record'
            : `recorded: ${known.join(', ')}`),
      },
    );
  }
  for (const { file, cassette } of wanted) {
    say(io, `${file} · recorded ${cassette!.recordedAt}`);
    for (const line of showCassette(cassette!)) say(io, line);
  }
  return 0;
}

async function prune(place: CassettePlace, options: Options, io: Io): Promise<number> {
  const found = findCassettes(place, options.id);
  const orphans = found.filter(({ orphan }) => orphan !== undefined);
  for (const { path, file, orphan } of orphans) {
    removeCassetteFile(place.dir, path);
    say(io, `removed ${file}: ${orphan}`);
  }
  if (orphans.length === 0) say(io, 'every cassette belongs to a query: no file to remove');
  if (options.unused === true)
    for (const line of await dropUnused(place, options, io)) say(io, line);
  const broken = found.filter(({ error }) => error !== undefined);
  for (const { error } of broken) complain(io, error!);
  return broken.length > 0 ? 2 : 0;
}

async function rerecord(place: CassettePlace, options: Options, io: Io): Promise<number> {
  const ids = await idsToRecord(place, options, io);
  if (ids.length === 0) {
    say(
      io,
      options.only === 'missing' ? 'every query has its recordings' : 'every recording still fits',
    );
    return 0;
  }
  const progress = startProgress(io, { quiet: false });
  try {
    const run = await runSuite({
      suite: place.suite,
      ids,
      cassette: { mode: 'record', dir: place.dir },
      ignoresBaselines: true,
      judge: 'off',
      env: io.env,
      signal: io.signal,
      now: io.now,
      sink: progress,
      workers: options.workers,
    });
    progress.stop();
    const lacking = run.results.map((result) => whyNotRecorded(result));
    run.results.forEach(({ id }, at) => {
      say(io, lacking[at] === undefined ? `recorded ${id}` : `not recorded ${id}: ${lacking[at]}`);
    });
    if (run.interrupted) return 130;
    return lacking.some((why) => why !== undefined) ? 2 : 0;
  } finally {
    progress.stop();
  }
}

async function idsToRecord(
  place: CassettePlace,
  options: Options,
  io: Io,
): Promise<readonly string[]> {
  if (options.only === undefined)
    return options.id === undefined ? place.suite.queries.map(({ id }) => id) : [options.id];
  if (options.only === 'missing')
    return [...new Set(missingRuns(place, options.id).map(({ id }) => id))];
  const { staleIds } = await import('../../cassette-command/check.ts');
  return staleIds(place, options, io);
}

/** A query that did not pass, or made no call, leaves the file as it was. */
const whyNotRecorded = ({ error, not_run, warnings = [] }: QueryResult): string | undefined =>
  error?.message ??
  (not_run === undefined
    ? warnings.find(({ code }) => code === 'CASSETTE_KEPT')?.message
    : 'it was not run');
