import { UserError } from '@agentci/lib/problems';
import { andMore, didYouMean } from '@agentci/lib/text';
import type { Query } from '@agentci/spec';
import { selectQueries } from '@agentci/spec';
import type { RunOptions } from './run-options.ts';

/** A misspelled id among valid ones would go unnoticed. */
function refuseUnknownIds({ suite, ids = [] }: RunOptions): void {
  const known = new Set(suite.queries.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  const near = didYouMean(unknown[0]!, [...known]);
  throw new UserError(
    'OPTION_INVALID',
    `${suite.file} has no query ${andMore(
      unknown.map((id) => JSON.stringify(id)),
      5,
    )}`,
    {
      hint: near === undefined ? undefined : `Did you mean "${near}"?`,
    },
  );
}

/** The selected queries of a run. An empty selection is an error of the user. */
export function selectedQueries(options: RunOptions): readonly Query[] {
  const { suite } = options;
  refuseUnknownIds(options);
  const queries = selectQueries(suite, options);
  if (queries.length > 0) return queries;
  throw new UserError(
    'NOTHING_SELECTED',
    `no query of ${suite.file} was selected (it has ${suite.queries.length})`,
    {
      hint: selectionHint(options),
    },
  );
}

function selectionHint({ suite, tags, filter, cells, only }: RunOptions): string {
  if (suite.queries.length === 0) return 'The spec has no queries.';
  if (only !== undefined) return 'None of the queries to run again is among those chosen.';
  const known = [...new Set(suite.queries.flatMap((query) => query.tags))].sort();
  if (tags?.length)
    return known.length > 0
      ? `The spec's tags are: ${known.join(', ')}`
      : 'No query in the spec has tags.';
  if (filter !== undefined)
    return 'The filter looks for text in ids and queries, without regard to case.';
  if (cells !== undefined) return 'No query is run in these cells.';
  return `Its ids are: ${andMore([...new Set(suite.queries.map(({ id }) => id))], 5)}`;
}
