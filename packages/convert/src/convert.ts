import type { Diagnostic } from '@agentci/lib/problems';
import { UserError } from '@agentci/lib/problems';
import { Ids } from './ids.ts';
import { type CaseLayout, layOut } from './layout.ts';
import type { Carried, ConvertedCase, ConvertedSuite, Finding } from './model.ts';
import { type ConvertReport, markdownReport } from './report.ts';
import { gatherRows, ROWS_FROM, type RowSet } from './rows.ts';
import { writeSpec } from './write-spec.ts';

export const SPEC_FILE = 'agentci_spec.yaml';
const RECORDINGS = 'recordings.jsonl';

export interface ConvertOptions {
  readonly from: string;
  /** Names of the files, for the first line of the spec. */
  readonly title: string;
  readonly agent?: string;
  readonly lossy: boolean;
  /** Prefix of file names in the report, such as `converted/`. */
  readonly folder: string;
  /**
   * Parses the spec before it is written, with its other files, and returns its problems. A
   * rejected check is not carried, whatever its source assumed.
   */
  readonly validate: (files: ReadonlyMap<string, string>) => Promise<readonly Diagnostic[]>;
}

export interface Conversion {
  readonly files: ReadonlyMap<string, string>;
  readonly report: ConvertReport;
}

/** Every round removes at least one rejected check. More rounds mean another problem. */
const MAX_ROUNDS = 25;

/** Converts a parsed suite to the files of a spec, with a report. */
export async function convertSuite(
  suite: ConvertedSuite,
  options: ConvertOptions,
): Promise<Conversion> {
  if (suite.cases.length === 0)
    throw new UserError('NOTHING_FOUND', `no cases found in ${options.title}`, {
      hint:
        suite.settings[0]?.why ??
        'Is this the right file? Use --from NAME to say which tool it comes from.',
    });
  let refused: ReadonlyMap<Carried, string> = new Map();
  let rowsFrom = ROWS_FROM;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const made = makeFiles(suite, options, refused, rowsFrom);
    const found = await options.validate(made.files);
    const errors = found.filter(({ severity }) => severity === 'error');
    if (errors.length === 0) return finish(made, options);
    const more = new Map(refused);
    for (const { line, message, file } of errors) {
      const owner = file.endsWith(SPEC_FILE) ? made.spec.owners.get(line) : undefined;
      if (owner !== undefined && !more.has(owner)) more.set(owner, message);
    }
    if (more.size > refused.size && rowsFrom !== Number.POSITIVE_INFINITY && made.sets.length > 0) {
      // A rejected text is in one row of many, which can only be identified as a separate query.
      rowsFrom = Number.POSITIVE_INFINITY;
    } else if (more.size > refused.size) refused = more;
    else if (rowsFrom !== Number.POSITIVE_INFINITY) rowsFrom = Number.POSITIVE_INFINITY;
    else throw brokenSpec(errors[0]!);
  }
  throw new UserError(
    'INTERNAL_FAULT',
    'the converted spec does not validate, so nothing was written',
  );
}

const brokenSpec = ({ line, message }: Diagnostic): UserError =>
  new UserError(
    'INTERNAL_FAULT',
    `the converted spec does not validate (line ${line}: ${message}), so nothing was written`,
    {
      hint: 'Please report it, with the suite.',
    },
  );

interface Made {
  readonly spec: ReturnType<typeof writeSpec>;
  readonly layouts: readonly CaseLayout[];
  readonly sets: readonly RowSet[];
  readonly files: Map<string, string>;
  readonly suite: ConvertedSuite;
}

function makeFiles(
  suite: ConvertedSuite,
  { title, agent, lossy }: ConvertOptions,
  refused: ReadonlyMap<Carried, string>,
  rowsFrom: number,
): Made {
  const ids = new Ids();
  const layouts = suite.cases.map((one) =>
    layOut(withRefusals(one, refused), ids.take(one.name), lossy),
  );
  const recordings = layouts.flatMap(({ id, source }) =>
    source.recording === undefined
      ? []
      : [`${JSON.stringify({ id, query: source.query, ...source.recording })}\n`],
  );
  const hasRecordings = recordings.length > 0;
  const whole = withRunner(suite, hasRecordings, lossy);
  const queries = gatherRows(layouts, rowsFrom);
  const sets = queries.filter((query) => 'file' in query);
  const spec = writeSpec(whole, queries, { title, agent: agent ?? suite.agent ?? 'agent' });
  const files = new Map<string, string>([[SPEC_FILE, spec.text]]);
  for (const { file, rows } of sets) files.set(file, rows);
  if (hasRecordings) files.set(RECORDINGS, recordings.join(''));
  return { spec, layouts, sets, files, suite: whole };
}

/** Recordings are replayed. A runner that is only close must be requested. */
function withRunner(suite: ConvertedSuite, hasRecordings: boolean, lossy: boolean): ConvertedSuite {
  const { runner, matrix, closeRunner, ...rest } = suite;
  if (hasRecordings) return { ...rest, runner: { replay: `./${RECORDINGS}` } };
  return closeRunner !== undefined && !lossy ? rest : suite;
}

/** A check that the spec rejects is not carried, and the report quotes the reason. */
function withRefusals(one: ConvertedCase, refused: ReadonlyMap<Carried, string>): ConvertedCase {
  if (refused.size === 0) return one;
  const clean = (carried: Carried): Carried => {
    const why = refused.get(carried);
    if (why === undefined) return carried;
    const { target: _, ...finding } = carried.finding;
    return {
      finding: { ...finding, verdict: 'none', why },
      parts: [],
      members: carried.members?.map((member) => ({ ...member, verdict: 'none', why })),
    };
  };
  const carried = one.carried.map(clean);
  const { policy, ...rest } = one;
  return {
    ...rest,
    policy:
      policy === undefined || !carried.some(({ isPolicy }) => isPolicy === true)
        ? undefined
        : policy,
    carried,
    turns:
      one.turns === undefined
        ? rest.turns
        : one.turns.map(({ turn, carried }) => ({ turn, carried: carried.map(clean) })),
  };
}

function finish(
  { layouts, files, suite }: Made,
  { from, lossy, folder }: ConvertOptions,
): Conversion {
  const assertions: Judged[] = [];
  for (const { source, skip } of layouts)
    for (const { finding, members } of [
      ...source.carried,
      ...(source.turns ?? []).flatMap(({ carried }) => carried),
    ])
      for (const one of [finding, ...(members ?? [])]) assertions.push({ finding: one, skip });
  const merged = mergeFindings(assertions);
  const skipped = layouts.flatMap(({ id, skip, source }) =>
    skip === undefined ? [] : [{ id, ...source.place, why: skip }],
  );
  const count = (verdict: Finding['verdict']): number =>
    merged.filter((one) => one.verdict === verdict).length;
  const all = new Map(files);
  const report: ConvertReport = {
    schema: 'agentci.convert/1',
    from,
    spec: `${folder}${SPEC_FILE}`,
    cases: layouts.length,
    assertions: merged,
    settings: suite.settings.map(({ problem: _, ...setting }) => setting),
    skipped,
    counts: {
      exact: count('exact'),
      close: count('close'),
      none: count('none'),
      cases: layouts.length,
      skipped: skipped.length,
    },
    lossy,
    files: [...all.keys(), 'convert-report.md', 'convert-report.json'].map(
      (name) => `${folder}${name}`,
    ),
  };
  all.set('convert-report.md', markdownReport(report));
  all.set('convert-report.json', `${JSON.stringify(report, null, 2)}\n`);
  return { files: all, report };
}

const RANK = { exact: 0, close: 1, none: 2 } as const;

/** A finding, with the reason if its case is skipped. */
interface Judged {
  readonly finding: Finding;
  readonly skip: string | undefined;
}

/**
 * One line per assertion of the source. An assertion of many cases (a default) has the worst result
 * among them. If all its cases are skipped it judges nothing, so it was not carried.
 */
function mergeFindings(findings: readonly Judged[]): readonly Finding[] {
  const merged: Finding[] = [];
  const known = new Map<object, number>();
  const judged = new Set(
    findings.flatMap(({ finding, skip }) => (skip === undefined ? (finding.origin ?? []) : [])),
  );
  for (const { finding: found, skip } of findings) {
    const {
      origin,
      problem: _,
      ...finding
    } = skip === undefined || found.verdict === 'none' ? found : unjudged(found, skip);
    if (
      skip !== undefined &&
      origin !== undefined &&
      judged.has(origin) &&
      found.verdict === 'exact'
    )
      continue;
    const at = origin === undefined ? undefined : known.get(origin);
    if (at === undefined) {
      if (origin !== undefined) known.set(origin, merged.length);
      merged.push(finding);
    } else if (RANK[finding.verdict] > RANK[merged[at]!.verdict]) merged[at] = finding;
  }
  return merged;
}

/** A close finding stays close: `--lossy` may write it, and then the case is not skipped. */
function unjudged({ target: _, ...finding }: Finding, skip: string): Finding {
  return finding.verdict === 'close' && /--lossy/.test(skip)
    ? finding
    : { ...finding, verdict: 'none', why: `its case is skipped: ${skip}` };
}
