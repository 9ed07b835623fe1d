import { shortHash } from '@agentci/lib/data';
import { caseText, cellText } from './cell.ts';
import { commonText } from './common-text.ts';
import { errorClass, withoutLiterals } from './failure-signature.ts';
import type { CheckResult, QueryResult, RunResult } from './run-result.ts';
import { checksOf } from './status.ts';

/** Failures with one signature. */
export interface FailureGroup {
  /** Eight digits, the same in every run. */
  signature: string;
  /** The check that decided, or `error.KIND` for a query that could not be judged. */
  check: string;
  kind: 'fail' | 'error';
  /** What they have in common, without literals. */
  pattern: string;
  /** What is true of all of them: the message without what differs. */
  title: string;
  /** The message of the first of them. */
  example: string;
  /** The first few, each with its own message, by the name of their case (`refund (model=a)`). */
  examples: { query: string; message: string }[];
  /** Ids, in the order of the spec. */
  queries: string[];
  /** With a matrix: the cells in which they failed. */
  cells?: string[];
  /** With a matrix: how many cases failed, each query counted in each of its cells. */
  cases?: number;
}

const MAX_EXAMPLES = 3;

/** From this many failures on, groups say more than a list. */
export const GROUPS_FROM = 5;

/**
 * The failures of a run by signature: check, kind of finding, place, expectation without literals, class of error. The
 * order of the results makes no difference to which groups there are; larger groups come first.
 */
export function groupFailures(run: Pick<RunResult, 'results'>): FailureGroup[] {
  const groups = new Map<string, Gathered>();
  for (const result of run.results) {
    if (result.status !== 'fail' && result.status !== 'error') continue;
    for (const { check, kind, pattern, message } of findingsIn(result)) {
      const key = `${check}\n${kind}\n${pattern}`;
      let group = groups.get(key);
      if (group === undefined) {
        group = {
          signature: shortHash(key),
          check,
          kind,
          pattern,
          title: message,
          example: message,
          examples: [],
          queries: new Set(),
          cells: new Set(),
          cases: new Set(),
        };
        groups.set(key, group);
      } else group.title = commonText(group.title, message);
      const name = caseText(result);
      if (!group.queries.has(result.id) && group.examples.length < MAX_EXAMPLES)
        group.examples.push({ query: name, message });
      group.queries.add(result.id);
      group.cases.add(name);
      if (result.cell !== undefined) group.cells.add(cellText(result.cell));
    }
  }
  return [...groups.values()]
    .map(({ queries, cells, cases, ...group }) => ({
      ...group,
      queries: [...queries],
      cells: cells.size === 0 ? undefined : [...cells],
      cases: cells.size === 0 ? undefined : cases.size,
    }))
    .sort(
      (a, b) =>
        b.queries.length - a.queries.length ||
        (b.cases ?? 0) - (a.cases ?? 0) ||
        (a.signature < b.signature ? -1 : 1),
    );
}

interface Gathered extends Omit<FailureGroup, 'queries' | 'cells' | 'cases'> {
  readonly queries: Set<string>;
  readonly cells: Set<string>;
  readonly cases: Set<string>;
}

interface Found {
  readonly check: string;
  readonly kind: 'fail' | 'error';
  readonly pattern: string;
  readonly message: string;
}

/** What made a query fail: its error, or else the checks that have the status the query has. */
function findingsIn(result: QueryResult): Found[] {
  const { error, status } = result;
  if (error !== undefined)
    return [
      {
        check: `error.${error.kind}`,
        kind: 'error',
        pattern: errorPattern(result),
        message: error.message,
      },
    ];
  const decided = checksOf(result).filter((check) => check.status === status);
  return decided.map((check) => ({
    check: check.id,
    kind: check.status as Found['kind'],
    pattern: patternOf(check),
    message: check.message,
  }));
}

/** A call that a cassette does not have is known by what about it changed, whatever the texts are. */
function errorPattern({ error, cassette }: QueryResult): string {
  const { kind, message } = error!;
  if (kind !== 'cassette_miss') return errorClass(message);
  const [cause] = cassette?.causes ?? [];
  return cause === undefined
    ? withoutLiterals(message.replace(/; record it with: .*$/s, ''))
    : `not as recorded: ${cause}`;
}

/** A check that could not be evaluated says why in the words of someone else's program. */
const patternOf = ({ status, message }: CheckResult): string =>
  status === 'error' ? errorClass(message) : withoutLiterals(message);

/** What became of the groups since another run; a group is known by its signature. */
export interface GroupHistory {
  /** Groups of now by signature. */
  readonly since: ReadonlyMap<string, 'new' | 'known'>;
  /** All of their queries were judged, and they have another verdict. */
  readonly gone: readonly FailureGroup[];
  /** Not seen, but not all of their queries were judged: nothing can be said. */
  readonly notRun: readonly FailureGroup[];
}

/** `judged`: the ids that the run has a verdict on. */
export function compareGroups(
  before: readonly FailureGroup[],
  after: readonly FailureGroup[],
  judged: ReadonlySet<string>,
): GroupHistory {
  const old = new Set(before.map(({ signature }) => signature));
  const now = new Set(after.map(({ signature }) => signature));
  const missing = before.filter(({ signature }) => !now.has(signature));
  const isJudged = ({ queries }: FailureGroup): boolean => queries.every((id) => judged.has(id));
  return {
    since: new Map(after.map(({ signature }) => [signature, old.has(signature) ? 'known' : 'new'])),
    gone: missing.filter(isJudged),
    notRun: missing.filter((group) => !isJudged(group)),
  };
}
