import type { TraceProblem } from '@agentci/formats';
import type { CheckResult } from '@agentci/results';

/** What is wrong with a record, and where, in one line. */
export const problemText = ({ file, line, column, code, message }: TraceProblem): string =>
  `${[file, line, column].filter((part) => part !== undefined).join(':')} ${code}: ${message}`.trim();

/** A record that belongs to no query and could not be read: the run cannot be sure of itself. */
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
