import { decimal } from '@agentci/lib/numbers';
import type { Diagnostic } from '@agentci/lib/problems';
import { UserError } from '@agentci/lib/problems';
import { roundTo4, weighted } from '@agentci/metrics';
import type { Trial } from '@agentci/results';
import { readText } from './read-text.ts';
import { failedTrial, type Scoring, scoredParts } from './score-trial.ts';
import { readRows, type TrialRow } from './trial-rows.ts';

export interface TrialFile {
  readonly path: string;
  readonly dir: string;
  /** Rows with another condition are skipped. */
  readonly wanted: string;
  readonly condition: string;
  readonly scoring: Scoring;
}

/**
 * The trials of one condition from a CSV or JSON file. Scores the actions if there are any, else
 * uses the given components.
 */
export function readTrials({ path, dir, wanted, condition, scoring }: TrialFile): Trial[] {
  const { rows, problems } = readRows(
    readText(path, { dir, what: `condition ${condition}` }),
    path,
  );
  const own = rows.filter(
    ({ fields }) => isBlank(fields.get('condition')) || String(fields.get('condition')) === wanted,
  );
  const trials = own.map((row, i) =>
    toTrial(row, { condition, place: i, scoring, file: path, problems }),
  );
  if (problems.length > 0)
    throw new UserError('DATA_INVALID', `${path} cannot be used`, {
      diagnostics: problems.slice(0, 100),
    });
  if (trials.length > 0) return trials;
  const names = [...new Set(rows.map(({ fields }) => String(fields.get('condition'))))];
  throw new UserError(
    'NOTHING_FOUND',
    rows.length === 0
      ? `no trials found in ${path}`
      : `${path} has no trials of the condition "${wanted}"`,
    rows.length === 0
      ? {}
      : { hint: `It has: ${names.slice(0, 10).join(', ')}. Write data: {file: …, condition: …}` },
  );
}

interface RowContext {
  readonly condition: string;
  readonly place: number;
  readonly scoring: Scoring;
  readonly file: string;
  readonly problems: Diagnostic[];
}

const NAME_FIELDS = ['trial', 'trial_id', 'id'] as const;

function toTrial({ line, label = '', fields }: TrialRow, context: RowContext): Trial {
  const { condition, scoring, file, problems } = context;
  const say = (message: string): void => {
    problems.push({
      severity: 'error',
      code: 'DATA_INVALID',
      message: `${label}${message}`,
      file,
      line,
      column: 1,
    });
  };
  const number = (names: readonly string[], most = Number.POSITIVE_INFINITY): number | null => {
    const name = names.find((each) => !isBlank(fields.get(each)));
    if (name === undefined) return null;
    const value = fields.get(name);
    const read = typeof value === 'string' ? decimal(value) : value;
    if (typeof read === 'number' && Number.isFinite(read) && read >= 0 && read <= most) return read;
    const limit =
      most === Number.POSITIVE_INFINITY ? 'a number of at least 0' : `a number from 0 to ${most}`;
    say(`"${name}" must be ${limit}, not ${JSON.stringify(value)}`);
    return null;
  };
  const named = NAME_FIELDS.map((name) => fields.get(name)).find((value) => !isBlank(value));
  const name = {
    condition,
    trial: typeof named === 'number' || typeof named === 'string' ? named : context.place + 1,
  };
  const error = fields.get('error');
  if (!isBlank(error))
    return failedTrial(name, typeof error === 'string' ? error : JSON.stringify(error));
  const actions = readActions(fields.get('actions'), say);
  const given = {
    validity: number(['validity'], 1),
    specificity: number(['specificity'], 1),
    correctness: number(['correctness'], 1),
    dq: number(['dq', 'dq_score'], 1),
  };
  const trial: Trial = {
    ...name,
    ...(actions !== undefined && scoring.groundTruth !== undefined
      ? scoredParts(actions, scoring)
      : { ...given, dq: dqOf(given, scoring), actions }),
    t2u_s: number(['t2u_s', 't2u']),
    cost_usd: number(['cost_usd']),
    total_tokens: number(['total_tokens']),
  };
  const isEmpty = [
    trial.dq,
    trial.t2u_s,
    trial.validity,
    trial.specificity,
    trial.correctness,
    trial.cost_usd,
    trial.total_tokens,
  ].every((value) => value === null);
  return isEmpty ? failedTrial(name, 'the row has no measurements') : trial;
}

/** Computed from the components with this experiment's weights. A bare score is used unchanged. */
function dqOf(
  given: Pick<Trial, 'validity' | 'specificity' | 'correctness' | 'dq'>,
  { weights }: Scoring,
): number | null {
  const { validity, specificity, correctness } = given;
  if (validity === null || specificity === null || correctness === null) return given.dq;
  return roundTo4(weighted({ validity, specificity, correctness }, weights));
}

/** A list, or a CSV cell with a JSON list or one action per line. */
function readActions(
  value: unknown,
  say: (message: string) => void,
): readonly string[] | undefined {
  // A blank cell is not an empty list. A trial without proposals is written as [].
  if (isBlank(value)) return undefined;
  let list: unknown = value;
  if (typeof value === 'string') {
    try {
      list = value.trimStart().startsWith('[')
        ? JSON.parse(value)
        : value.split('\n').filter((line) => line.trim() !== '');
    } catch {
      list = undefined;
    }
  }
  if (Array.isArray(list) && list.every((action): action is string => typeof action === 'string'))
    return list;
  say('"actions" must be a list of texts');
  return undefined;
}

const isBlank = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && /^(?:\s*|na|n\/a|null)$/i.test(value));
