import { UserError } from '@agentci/lib/problems';
import type { HistoryOptions } from './place.ts';

export const ACTIONS = [
  'list',
  'trend',
  'flaky',
  'first-bad',
  'cost',
  'import',
  'sql',
  'export',
] as const;

export type Action = (typeof ACTIONS)[number];

type OptionName = keyof HistoryOptions;

const CHOOSING: readonly OptionName[] = ['config', 'branch', 'agent', 'last', 'json'];

/** Operands (maximum number) and options of each action. */
const TAKES: Readonly<
  Record<Action, { readonly operands: number; readonly options: readonly OptionName[] }>
> = {
  list: { operands: 0, options: CHOOSING },
  trend: { operands: 1, options: [...CHOOSING, 'cell'] },
  flaky: { operands: 0, options: CHOOSING },
  'first-bad': { operands: 1, options: [...CHOOSING, 'cell'] },
  cost: { operands: 0, options: [...CHOOSING, 'by'] },
  import: { operands: Number.POSITIVE_INFINITY, options: ['config', 'json'] },
  sql: { operands: 1, options: ['config', 'json'] },
  export: { operands: 0, options: ['config', 'parquet'] },
};

/** Rejects unused options, because the user would expect them to affect the answer. */
export function refuseUnused(
  action: Action,
  options: HistoryOptions,
  what: readonly string[],
): void {
  const { operands, options: own } = TAKES[action];
  const extra = what[operands];
  if (extra !== undefined)
    throw new UserError(
      'OPTION_INVALID',
      operands === 0
        ? `history ${action} takes no argument, and was given "${extra}"`
        : `history ${action} takes one argument, and was given "${extra}" as well`,
      {
        hint: 'trend and first-bad take the id of one query, import takes folders and files, sql one statement.',
      },
    );
  const unused = (Object.keys(options) as OptionName[]).find(
    (name) => options[name] !== undefined && !own.includes(name),
  );
  if (unused === undefined) return;
  const takers = ACTIONS.filter((each) => TAKES[each].options.includes(unused));
  throw new UserError('OPTION_INVALID', `history ${action} does not take --${unused}`, {
    hint: `--${unused} belongs to: history ${takers.join(', ')}`,
  });
}
