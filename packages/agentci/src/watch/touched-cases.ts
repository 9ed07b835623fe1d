import { relative, resolve } from 'node:path';
import { canonicalJson } from '@agentci/lib/data';
import { caseKey } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import type { Role } from './watched-files.ts';

/**
 * The effect of a change: cases whose agent must run, and cases whose stored traces are judged
 * again.
 */
export interface Touched {
  readonly run: readonly Query[];
  readonly judge: readonly Query[];
}

/** The input of the agent, as opposed to its expected output, whose change needs no agent run. */
const agentPart = ({ query, vars, metadata, runs, cell }: Query): unknown => [
  query,
  vars,
  metadata,
  runs,
  cell,
];
const checkPart = ({
  correctness,
  path,
  cost,
  metrics,
  policies,
  context,
  expectedOutput,
  ...rest
}: Query): unknown => [
  [correctness, path, cost, metrics, context, expectedOutput],
  (policies ?? []).flatMap(({ sources }) => sources),
  [rest.minPassRate, rest.xfail, rest.skip, rest.policy, rest.tags, rest.description],
];

interface Change {
  readonly before: Suite;
  readonly after: Suite;
  /** Absolute paths. */
  readonly files: readonly string[];
  readonly roleOf: (file: string) => Role | undefined;
  readonly specFile: string;
}

/** The cases affected by changed files. */
export function touchedCases({ before, after, files, roleOf, specFile }: Change): Touched {
  const all = after.queries;
  if (canonicalJson(before.runner ?? null) !== canonicalJson(after.runner ?? null))
    return { run: all, judge: [] };
  const others = files.filter((file) => file !== resolve(specFile));
  if (others.some((file) => isAgents(roleOf(file)) && !isNamed(file, before, after)))
    return { run: all, judge: [] };
  const known = new Map(before.queries.map((query) => [caseKey(query), query]));
  const judgesAll =
    canonicalJson(before.judgeConfig ?? null) !== canonicalJson(after.judgeConfig ?? null) ||
    canonicalJson([before.use, before.baseline ?? null]) !==
      canonicalJson([after.use, after.baseline ?? null]) ||
    others.some(
      (file) =>
        roleOf(file) === 'traces' || after.use.some((module) => isPath(file, module, after)),
    );
  const run = new Set<Query>();
  const judge = new Set<Query>();
  for (const query of all) {
    const was = known.get(caseKey(query));
    if (
      was === undefined ||
      differ(agentPart(was), agentPart(query)) ||
      (was.skip !== undefined && query.skip === undefined)
    )
      run.add(query);
    else if (judgesAll || differ(checkPart(was), checkPart(query))) judge.add(query);
  }
  for (const file of others) touchByName(file, { run, judge }, after);
  if (run.size === 0 && judge.size === 0 && isDataOfAgent(others, roleOf, specFile))
    return { run: all, judge: [] };
  return { run: [...run], judge: [...judge].filter((query) => !run.has(query)) };
}

const isAgents = (role: Role | undefined): boolean => role === 'agent' || role === 'beside';

const differ = (a: unknown, b: unknown): boolean => canonicalJson(a) !== canonicalJson(b);

/** A prompt used by some cells affects only those. A file named in a check only affects judging. */
function touchByName(
  file: string,
  { run, judge }: { run: Set<Query>; judge: Set<Query> },
  suite: Suite,
): void {
  const path = relative(resolve(suite.dir), file);
  const names = [path, `./${path}`];
  const speaksOf = (part: unknown): boolean => {
    const text = JSON.stringify(part) ?? '';
    return names.some((name) => text.includes(JSON.stringify(name).slice(1, -1)));
  };
  for (const query of suite.queries) {
    if (speaksOf([query.vars, query.metadata])) run.add(query);
    else if (speaksOf([query.correctness, query.path, query.cost])) judge.add(query);
  }
}

/**
 * A change that no case shows, in a file the agent may read. Spec files with an unchanged meaning
 * do not count.
 */
const isDataOfAgent = (
  files: readonly string[],
  roleOf: Change['roleOf'],
  specFile: string,
): boolean =>
  files.some(
    (file) =>
      isAgents(roleOf(file)) ||
      (roleOf(file) === 'named' && file !== specFile && !/\.ya?ml$|\.csv$/.test(file)),
  );

const isPath = (file: string, written: string, suite: Suite): boolean =>
  resolve(suite.dir, written) === file;

/** A file next to the agent may be part of the spec. Then its content decides, not its location. */
const isNamed = (file: string, before: Suite, after: Suite): boolean => {
  const text = JSON.stringify(
    [before, after].map(({ queries, use }) => [queries.slice(0, 1000), use]),
  );
  return (
    /\.(?:ya?ml|csv|jsonl|ndjson)$/.test(file) ||
    text.includes(JSON.stringify(relative(resolve(after.dir), file)).slice(1, -1))
  );
};
