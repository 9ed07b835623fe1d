import { join } from 'node:path';
import { present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import type { PageVersion, RunResult } from '@agentci/results';
import {
  type BaselineFile,
  type BaselineList,
  listAllBaselineFiles,
  listBaselineFiles,
  type RecordedCase,
  readBaselineTrace,
  versionCases,
  versionNotices,
  versionRun,
} from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { toolNames } from '@agentci/trace';
import { baselinePlaceToRead, DEFAULT_DIR } from '../baseline-command/baseline-place.ts';
import type { Io } from '../cli/io.ts';
import { folderOf, judgeCacheOf, specFolder } from '../stored-runs/spec-folders.ts';

/** Longer sequences are not readable side by side. */
const MAX_TOOLS = 1000;

/** A baseline version judged for a comparison. */
export interface OpenVersion {
  readonly version: string;
  readonly run: RunResult;
  /** By `caseText`. `null` if calls were not captured. */
  readonly tools: ReadonlyMap<string, string[] | null>;
  readonly notices: readonly string[];
}

interface Place {
  readonly suite?: Suite;
  readonly dir: string;
  readonly judgeCacheDir?: string;
  /** The reason why the spec is missing. */
  readonly problem?: string;
}

/**
 * The baseline versions next to a spec. Reads spec and files on each request, because they change
 * while a page is open.
 */
export class VersionLibrary {
  readonly #place: () => Promise<Place>;
  readonly #env: Io['env'];

  constructor(place: () => Promise<Place>, env: Io['env']) {
    this.#place = place;
    this.#env = env;
  }

  /** Versions of every agent, newest first. */
  async list(): Promise<PageVersion[]> {
    const { dir } = await this.#place();
    const groups = new Map<string, BaselineFile[]>();
    for (const file of listAllBaselineFiles(dir).files) {
      const group = groups.get(idOf(file));
      if (group === undefined) groups.set(idOf(file), [file]);
      else group.push(file);
    }
    return [...groups]
      .map(([id, files]): PageVersion => {
        const { agent, version } = files[0]!;
        const times = files.flatMap(({ captured_at }) => captured_at ?? []).sort();
        const newest = times.at(-1);
        const cases = versionCases(files, { dir, agent, version });
        return {
          id,
          agent,
          version,
          queries: cases.size,
          captured_at: newest,
        };
      })
      .sort((a, b) => (b.captured_at ?? '').localeCompare(a.captured_at ?? ''));
  }

  /** Judges a version by the current spec. Runs no user code and calls no judge. */
  async open(id: string): Promise<OpenVersion | undefined> {
    const found = (await this.list()).find((version) => version.id === id);
    if (found === undefined) return undefined;
    const { agent, version } = found;
    const { dir, suite: own, judgeCacheDir, problem } = await this.#place();
    const suite = own?.agent === agent ? own : undefined;
    const list = listBaselineFiles(dir, agent);
    const place = { dir, agent, version, suite };
    const cases = new Map<string, RecordedCase>();
    const unreadable: string[] = [];
    for (const [key, each] of versionCases(list.files, place)) {
      try {
        cases.set(key, { ...each, trace: await readBaselineTrace(each.file.file) });
      } catch (error) {
        unreadable.push(`${key}: ${(error as Error).message}`);
      }
    }
    const run = await versionRun(cases, place, {
      judge: 'recorded',
      withoutCode: true,
      env: this.#env,
      judgeCacheDir,
    });
    return {
      version,
      run,
      tools: new Map([...cases].map(([key, { trace }]) => [key, toolsOf(trace)])),
      notices: present([
        problem === undefined ? undefined : problem,
        ...versionNotices(cases.values(), place),
        ...unjudgedNotice(run, version),
        ...unreadable,
        ...brokenOf(list, version),
      ]),
    };
  }
}

const toolsOf = (trace: RecordedCase['trace']): string[] | null =>
  trace.captured.toolCalls === 'none' ? null : toolNames(trace).slice(0, MAX_TOOLS);

const idOf = ({ agent, version }: { readonly agent: string; readonly version: string }): string =>
  `baseline:${agent}/${version}`;

/** A summary for all queries. Each query has its own reason. */
function unjudgedNotice(run: RunResult, version: string): string[] {
  const count = run.results.filter(
    ({ status, skip }) => status === 'error' || skip !== undefined,
  ).length;
  return count === 0
    ? []
    : [
        `${plural(count, 'recording')} of ${version} could not be judged here: no judge is asked and none of your code is run. Each says why.`,
      ];
}

const brokenOf = ({ broken }: BaselineList, version: string): string[] =>
  broken.filter((file) => file.version === version).map(({ error }) => error.message);

/** The versions of a command's spec. If the spec is unreadable, versions have no verdicts. */
export function versionLibrary(config: string | undefined, io: Io): VersionLibrary {
  const options = config === undefined ? {} : { config };
  return new VersionLibrary(async () => {
    try {
      const place = await baselinePlaceToRead(options, io);
      if (place.suite === undefined) return place;
      return { ...place, judgeCacheDir: judgeCacheOf(folderOf(place.suite, io), undefined, io) };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const [first] = error.message.split('\n');
      return {
        dir: join(specFolder(config, io), DEFAULT_DIR),
        problem: `the spec cannot be read, so no version is judged: ${first}`,
      };
    }
  }, io.env);
}
