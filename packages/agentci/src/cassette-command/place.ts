import { join, relative, resolve } from 'node:path';
import type { Cassette } from '@agentci/capture';
import { readCassette } from '@agentci/capture';
import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import { andMore, didYouMean, escapeTerminalLine } from '@agentci/lib/text';
import { caseText, sameCell } from '@agentci/results';
import type { RunAbout } from '@agentci/run';
import { cassettePath, listCassetteFiles, readCassetteFile } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { loadSpec } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC, specPath } from '../stored-runs/spec-folders.ts';

/** A spec and the folder of its cassettes. */
export interface CassettePlace {
  readonly suite: Suite;
  readonly dir: string;
  /** Folder name as messages show it. */
  readonly shownDir: string;
}

export async function cassettePlace(
  options: { readonly config?: string; readonly dir?: string },
  io: Io,
): Promise<CassettePlace> {
  const { suite } = await loadSpec(specPath(options.config ?? DEFAULT_SPEC, io.cwd));
  SECRETS.spare([suite.agent, suite.file, ...suite.queries.map(({ id }) => id)]);
  const shownDir = options.dir ?? join(suite.dir, suite.cassette?.dir ?? 'cassettes');
  return { suite, dir: resolve(io.cwd, shownDir), shownDir };
}

/** A cassette file of an agent: its content, or the reason why it cannot be read. */
export interface FoundCassette {
  readonly path: string;
  readonly file: string;
  readonly bytes: number;
  readonly cassette?: Cassette;
  readonly error?: UserError;
  /** Why no query of the spec uses it. */
  readonly orphan?: string;
}

/** The cassette files of an agent, or of one query. */
export function findCassettes(place: CassettePlace, id?: string): readonly FoundCassette[] {
  const { suite, dir, shownDir } = place;
  const found = listCassetteFiles(dir, suite.agent).map((path): FoundCassette => {
    const file = join(shownDir, relative(dir, path));
    let bytes = 0;
    try {
      const text = readCassetteFile(dir, path) ?? '';
      bytes = Buffer.byteLength(text);
      const cassette = readCassette(text, file);
      const orphan = whyOrphan(cassette, suite, dir, path);
      return { path, file, bytes, cassette, orphan };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { path, file, bytes, error };
    }
  });
  if (id === undefined) return found;
  const own = new Set(
    runsOf(place, id).map((about) => cassettePath(dir, { agent: suite.agent, ...about })),
  );
  return found.filter(({ path, cassette }) =>
    cassette === undefined ? own.has(path) : cassette.id === id,
  );
}

/** All runs of the queries that have a recording, or of one query. */
const runsOf = ({ suite }: CassettePlace, id?: string): RunAbout[] =>
  suite.queries
    .filter((query) => id === undefined || query.id === id)
    .flatMap(({ id, runs, cell }) =>
      Array.from({ length: runs }, (_, at) => ({ id, run: at + 1, cell })),
    );

/** Rejects unknown query ids. Queries that left the spec may still have files. */
export function refuseUnknownId(
  id: string,
  place: CassettePlace,
  { mayBeGone }: { readonly mayBeGone: boolean },
): void {
  const known = [...new Set(place.suite.queries.map((query) => query.id))];
  if (known.includes(id) || (mayBeGone && findCassettes(place, id).length > 0)) return;
  const near = didYouMean(id, known);
  throw new UserError('OPTION_INVALID', `${place.suite.file} has no query ${JSON.stringify(id)}`, {
    hint: near === undefined ? `Its queries: ${andMore(known, 5)}` : `Did you mean "${near}"?`,
  });
}

function whyOrphan(
  { agent, id, run, cell }: Cassette,
  suite: Suite,
  dir: string,
  path: string,
): string | undefined {
  if (agent !== suite.agent) return `it is of agent "${agent}"`;
  const query = suite.queries.find((one) => one.id === id && sameCell(one.cell, cell));
  if (query === undefined) return `the spec has no query "${caseText({ id, cell })}"`;
  if (run > query.runs)
    return `the query is run ${query.runs === 1 ? 'once' : `${query.runs} times`}`;
  return cassettePath(dir, { agent, id, run, cell }) === path
    ? undefined
    : 'its name is not that of its query';
}

/** Missing cassettes, one entry per run of a query. */
export function missingRuns(place: CassettePlace, id?: string): readonly RunAbout[] {
  const { suite, dir } = place;
  const files = new Set(listCassetteFiles(dir, suite.agent));
  return runsOf(place, id).filter(
    (about) => !files.has(cassettePath(dir, { agent: suite.agent, ...about })),
  );
}

export interface CassetteFlags {
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

export const say = (io: Io, line: string): void =>
  void io.stdout.write(`${escapeTerminalLine(line)}\n`);

export const complain = (io: Io, { code, message }: UserError): void =>
  void io.stderr.write(`agentci: ${escapeTerminalLine(message)} [${code}]\n`);
