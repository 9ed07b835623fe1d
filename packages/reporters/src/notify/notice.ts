import { clip } from '@agentci/lib/text';
import type { QueryResult, RunResult } from '@agentci/results';
import { caseText, checksOf } from '@agentci/results';
import type { ReportContext } from '../reporter.ts';

/** Messages are read on phones. The report has the rest. */
const MAX_FAILURES = 25;
const MAX_MESSAGE = 300;

/** The fields of a notification, as named in templates. */
export interface Notice {
  readonly agent: string;
  readonly run_id: string;
  readonly spec: string;
  readonly status: string;
  readonly exit_code: number;
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly warnings: number;
  readonly errors: number;
  readonly skipped: number;
  /** The first queries and run-level checks that failed or could not be judged. */
  readonly failures: readonly {
    readonly id: string;
    readonly status: string;
    readonly message: string;
  }[];
  readonly failures_left_out: number;
  readonly branch: string | null;
  readonly commit: string | null;
  /** URL of the CI job. */
  readonly url: string | null;
  readonly previous_status: string | null;
  readonly changed: boolean | null;
  /** For a partial run: a text that says so. */
  readonly part: string | null;
}

/** Has every field, to validate the names in templates. */
export const EMPTY_NOTICE: Notice = {
  agent: '',
  run_id: '',
  spec: '',
  status: '',
  exit_code: 0,
  total: 0,
  passed: 0,
  failed: 0,
  warnings: 0,
  errors: 0,
  skipped: 0,
  failures: [],
  failures_left_out: 0,
  branch: null,
  commit: null,
  url: null,
  previous_status: null,
  changed: null,
  part: null,
};

/** The exit code in a word. */
export const statusWord = (exit: number): string => {
  if (exit === 0) return 'passed';
  if (exit === 1) return 'failed';
  if (exit === 130) return 'interrupted';
  return 'could not tell';
};

/** The notification for a run. */
export function noticeOf(run: RunResult, { notify = {} }: ReportContext): Notice {
  const { total, passed, failed, warnings, errors, skipped, exit_code } = run.summary;
  const bad = [
    ...run.checks
      .filter(({ status }) => status === 'fail' || status === 'error')
      .map(({ id, status, message }) => ({ id, status, message: clip(message, MAX_MESSAGE) })),
    ...run.results
      .filter(({ status }) => status === 'fail' || status === 'error')
      .slice(0, MAX_FAILURES)
      .map((result) => ({
        id: caseText(result),
        status: result.status,
        message: clip(reasonOf(result), MAX_MESSAGE),
      })),
  ];
  const count =
    failed +
    errors +
    run.checks.filter(({ status }) => status === 'fail' || status === 'error').length;
  const shown = bad.slice(0, MAX_FAILURES);
  const { branch = null, commit = null, url = null, previous, part = null } = notify;
  const status = statusWord(exit_code);
  return {
    agent: run.agent,
    run_id: run.run_id,
    spec: run.spec.file,
    status,
    exit_code,
    total,
    passed,
    failed,
    warnings,
    errors,
    skipped,
    failures: shown,
    failures_left_out: count - shown.length,
    branch,
    commit,
    url,
    previous_status: previous ?? null,
    changed: previous === undefined ? null : previous !== status,
    part,
  };
}

/** The deciding check, or the reason that no check decided, such as a judge that is off. */
function reasonOf(result: QueryResult): string {
  const { error, status } = result;
  if (error !== undefined) return error.message;
  const checks = checksOf(result);
  const found =
    checks.find((check) => check.status === status) ??
    checks.find((check) => check.status !== 'pass');
  return found?.message ?? (status === 'error' ? 'nothing was checked' : 'no check says why');
}
