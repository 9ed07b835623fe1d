import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { appendFile, makeFolder, renameFile, writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { maskText } from '@agentci/lib/secrets';
import type { Trial } from '@agentci/results';
import { maskResult } from '@agentci/results';
import type { ExperimentPlan } from './plan.ts';

const SCHEMA = 'agentci.experiment-journal/1';

/** A finished trial of a live condition. `run` counts from 1. */
export interface JournalTrial {
  readonly condition: string;
  readonly run: number;
  readonly trial: Trial;
}

/** Stores every finished live trial on disk, so that a stopped experiment can continue. */
export class TrialJournal {
  readonly #path: string;
  readonly done: readonly JournalTrial[];

  private constructor(path: string, done: readonly JournalTrial[]) {
    this.#path = path;
    this.done = done;
  }

  /** Starts a new journal. Existing trials are moved aside, not deleted. */
  static create(plan: ExperimentPlan, cwd: string): TrialJournal {
    const path = pathOf(plan, cwd);
    makeFolder(dirname(path));
    if (existsSync(path)) renameFile(path, path.replace(/\.jsonl$/, '.previous.jsonl'));
    writeFileAtomic(
      path,
      `${JSON.stringify({ schema: SCHEMA, experiment: plan.name, hash: plan.hash })}\n`,
    );
    return new TrialJournal(path, []);
  }

  /** Continues the journal of the same experiment. Failed trials run again. */
  static reopen(plan: ExperimentPlan, cwd: string): TrialJournal {
    const path = pathOf(plan, cwd);
    if (!existsSync(path))
      throw new UserError('RESUME_REFUSED', `--resume: "${plan.name}" was not started here yet`);
    const text = readFileSync(path, 'utf8');
    // A line truncated by a kill belongs to an unfinished trial.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const [header, ...lines] = whole
      .split('\n')
      .filter(Boolean)
      .map((line, i) => parse(line, path, i + 1));
    if ((header as { schema?: unknown } | undefined)?.schema !== SCHEMA)
      throw new UserError('JOURNAL_DAMAGED', `${path} does not start with an ${SCHEMA} header`);
    if ((header as { hash?: unknown }).hash !== plan.hash)
      throw new UserError(
        'RESUME_REFUSED',
        `--resume: ${plan.file} or its options changed since "${plan.name}" was started`,
        {
          hint: 'Start again without --resume, or take the change back.',
        },
      );
    if (whole !== text) writeFileAtomic(path, whole);
    const newest = new Map<string, JournalTrial>();
    for (const entry of lines as JournalTrial[])
      newest.set(JSON.stringify([entry.condition, entry.run]), entry);
    return new TrialJournal(
      path,
      [...newest.values()].filter(({ trial }) => trial.error === undefined),
    );
  }

  add(entry: JournalTrial): void {
    appendFile(this.#path, maskText(`${JSON.stringify(maskResult(entry))}\n`));
  }
}

/** Next to the runs, which version control ignores. */
const pathOf = ({ name }: ExperimentPlan, cwd: string): string =>
  join(cwd, '.agentci', 'runs', 'experiments', `${slug(name)}.jsonl`);

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80) || 'experiment';

function parse(line: string, path: string, number: number): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    throw new UserError(
      'JOURNAL_DAMAGED',
      `${path}:${number} is not JSON: the stored experiment is damaged`,
    );
  }
}
