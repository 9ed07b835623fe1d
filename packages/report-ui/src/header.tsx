import type { CheckStatus, RunResult } from '@agentci/results';
import { useState } from 'preact/hooks';
import { time } from './format.ts';
import type { Route } from './router.ts';
import { data } from './source.ts';
import { Status } from './status.tsx';
import { nextTheme, theme } from './theme.ts';
import type { Shown } from './use-run.ts';
import { visible } from './visible-text.ts';

/** The run in one line: subject, time and result. */
export function Header({
  shown,
  page,
  onHelp,
}: {
  shown: Shown;
  page: Route['page'];
  onHelp: () => void;
}) {
  const { run, before, runs, isRunning, isLost } = shown;
  const [now, setNow] = useState(theme());
  const link = (target: Route['page'], href: string, text: string) => (
    <a
      href={href}
      aria-current={
        page === target || (target === 'queries' && page === 'query') ? 'page' : undefined
      }
    >
      {text}
    </a>
  );
  return (
    <header class="top">
      <div class="bar">
        <h1>
          <span class="brand">AgentCI</span> {run ? visible(run.agent) : ''}
        </h1>
        {run && (isRunning ? <span class="status running">running</span> : <Verdict run={run} />)}
        <span class="grow" />
        <nav aria-label="Pages">
          {link('queries', '#/', 'Queries')}
          {link('charts', '#/charts', 'Charts')}
          {(before || data.live || (run?.cells?.length ?? 0) > 1) &&
            link('compare', '#/compare', 'Compare')}
          {runs && link('runs', '#/runs', 'Runs')}
        </nav>
        <button
          type="button"
          class="plain"
          onClick={() => setNow(nextTheme())}
          title="Change the theme (t)"
        >
          Theme: {now}
        </button>
        <button type="button" class="plain keys-button" onClick={onHelp} title="Keyboard (?)">
          Keys
        </button>
      </div>
      {run && <About run={run} />}
      {isLost && (
        <p class="notice" role="alert">
          agentci view no longer answers: what is shown may be old.
        </p>
      )}
    </header>
  );
}

function About({ run }: { run: NonNullable<Shown['run']> }) {
  return (
    <p class="about">
      {[
        visible(run.spec.file),
        `run ${visible(run.run_id)}`,
        run.started_at && `${time(run.started_at)} UTC`,
      ]
        .filter(Boolean)
        .join(' · ')}
    </p>
  );
}

const VERDICTS: Record<number, [CheckStatus, string]> = {
  0: ['pass', 'passed'],
  1: ['fail', 'failed'],
  2: ['error', 'could not tell'],
};

const Verdict = ({ run }: { run: RunResult }) => {
  const [status, label] = run.interrupted
    ? (['error', 'interrupted'] as const)
    : (VERDICTS[run.summary.exit_code] ?? ['error', `exit ${run.summary.exit_code}`]);
  return <Status status={status} label={label} />;
};
