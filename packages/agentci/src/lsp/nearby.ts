import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readTraces } from '@agentci/formats';
import { present } from '@agentci/lib/data';
import type { Policy } from '@agentci/policy';
import { parsePolicy } from '@agentci/policy';
import type { QueryResult } from '@agentci/results';
import { caseKey } from '@agentci/results';
import { latestVerdicts, listRuns } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { DISK, isInside, realPath, SpecFolder } from '@agentci/spec';
import { toolNames } from '@agentci/trace';
import type { OpenDocument } from './documents.ts';

/** Names found in recordings near a spec. */
export interface Names {
  readonly tools: ReadonlySet<string>;
  readonly queries: ReadonlySet<string>;
  readonly versions: ReadonlySet<string>;
}

const MAX_TRACES = 500;
const MAX_BYTES = 20_000_000;
const MAX_FILES = 200;
const MAX_POLICIES = 20;
const KEPT_MS = 10_000;
/** Names for folders or files of recordings, as people and `agentci init` choose them. */
const RECORDINGS = /^(?:traces?|recordings?)(?:\.(?:jsonl?|ndjson))?$/;

/**
 * Recordings, baselines and runs next to a spec. Read on demand, cached for some seconds, never
 * modified.
 */
export class Nearby {
  readonly #names = new Map<string, { readonly until: number; readonly names: Promise<Names> }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  namesFor({ file, text, suite }: Pick<OpenDocument, 'file' | 'text' | 'suite'>): Promise<Names> {
    const known = this.#names.get(file);
    if (known !== undefined && known.until > this.#now()) return known.names;
    const names = readNames(dirname(file), text, suite);
    this.#names.set(file, { until: this.#now() + KEPT_MS, names });
    return names;
  }

  /** The last verdict on a query. */
  verdictOn(file: string, suite: Suite, id: string): QueryResult | undefined {
    const name = file.split(/[\\/]/).at(-1);
    const isOurs = ({ header }: { header: { agent: string; spec: { file: string } } }): boolean =>
      header.agent === suite.agent && header.spec.file.split(/[\\/]/).at(-1) === name;
    try {
      const found = latestVerdicts(join(dirname(file), '.agentci', 'runs'), isOurs)?.results;
      if (found === undefined) return undefined;
      return found.get(caseKey({ id })) ?? [...found.values()].find((result) => result.id === id);
    } catch {
      // The run is being written or unreadable, so it has no verdict to show.
      return undefined;
    }
  }
}

async function readNames(folder: string, text: string, suite: Suite | undefined): Promise<Names> {
  const names = {
    tools: new Set<string>(),
    queries: new Set<string>(),
    versions: new Set<string>(),
  };
  for (const policy of policiesIn(folder, text)) {
    for (const tool of policy.tools.keys()) names.tools.add(tool);
    for (const { text: tool } of [...(policy.allow ?? []), ...policy.deny, ...policy.blocklist])
      names.tools.add(tool);
  }
  const baselines = resolve(folder, suite?.baselineDir ?? 'baselines');
  for (const version of versionsIn(baselines)) names.versions.add(version);
  let left = MAX_TRACES;
  for (const source of sourcesIn(folder, baselines, suite)) {
    try {
      for await (const trace of readTraces(source, { onProblem: () => {} })) {
        for (const tool of toolNames(trace)) names.tools.add(tool);
        if (trace.task?.id !== undefined) names.queries.add(trace.task.id);
        if (--left <= 0) return names;
      }
    } catch {
      // Not a recording, so it has no names to offer.
    }
  }
  return names;
}

/** The policies named in a text. Works on incomplete specs too. */
function policiesIn(folder: string, text: string): Policy[] {
  const named = [
    ...text.matchAll(/(?<![\w-])policy\s*:\s*["']?([^\s"'#,{}[\]]+\.(?:ya?ml|json))/g),
  ].map(([, path]) => path!);
  const home = new SpecFolder(folder);
  return [...new Set(named)].slice(0, MAX_POLICIES).flatMap((path) => {
    const found = home.find(path);
    const written = found.ok ? DISK.readText(found.path) : undefined;
    const policy = written === undefined ? undefined : parsePolicy(written, { file: path }).policy;
    return policy === undefined ? [] : [policy];
  });
}

const versionsIn = (baselines: string): string[] =>
  entriesOf(baselines).flatMap((agent) =>
    entriesOf(join(baselines, agent)).map((name) => name.replace(/\.json$/, '')),
  );

/** Files to read, newest run first. None is outside the folder, and the total size is limited. */
function sourcesIn(folder: string, baselines: string, suite: Suite | undefined): string[] {
  const runs = join(folder, '.agentci', 'runs');
  const [run] = listRuns(runs);
  const replay =
    suite?.runner !== undefined && 'replay' in suite.runner ? [String(suite.runner.replay)] : [];
  const wanted = present([
    run === undefined ? undefined : join(runs, run.id, 'traces'),
    ...replay.map((path) => resolve(folder, path)),
    ...entriesOf(folder)
      .filter((name) => RECORDINGS.test(name))
      .map((name) => join(folder, name)),
    baselines,
  ]);
  let bytes = 0;
  return [...new Set(wanted)]
    .filter((path) => existsSync(path) && isInside(realPath(folder), realPath(path)))
    .flatMap((path) => filesIn(path))
    .filter((path) => {
      bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      return bytes <= MAX_BYTES;
    })
    .slice(0, MAX_FILES);
}

function filesIn(path: string, depth = 0): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) return /\.(jsonl?|ndjson)$/.test(path) ? [path] : [];
  if (!found?.isDirectory() || depth > 3) return [];
  return entriesOf(path).flatMap((name) => filesIn(join(path, name), depth + 1));
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort().slice(0, MAX_FILES);
  } catch {
    return [];
  }
}
