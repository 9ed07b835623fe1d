import type { TraceProblem } from '@agentci/formats';
import type { CheckResult } from '@agentci/results';

/** The problem of a record and its place, in one line. */
export const problemText = ({ file, line, column, code, message }: TraceProblem): string =>
  `${[file, line, column].filter((part) => part !== undefined).join(':')} ${code}: ${message}`.trim();

/** An unreadable record without a query, because of which the run cannot be certain. */
export function unreadable(problem: TraceProblem): CheckResult {
  const { file, line = 1, column = 1 } = problem;
  return {
    id: 'traces.readable',
    status: 'error',
    message: problemText(problem),
    evidence: [],
    location: file === undefined ? undefined : { file, line, column },
  };
}
