import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cellText } from '../../agentci/src/results/cell.ts';
import type { PageBefore, PageRun } from '../../agentci/src/results/page-data.ts';
import type { RunResult } from '../../agentci/src/results/run-result.ts';
import { Changes } from './changes.tsx';
import { Flips } from './flips.tsx';
import { plural, time } from './format.ts';
import { MetricTable } from './metric-table.tsx';
import { Pair } from './pair.tsx';
import { cellPairHref } from './router.ts';
import { cellSides, runSides, type Sides } from './sides.ts';
import { visible } from './visible-text.ts';

const MAX_NAMES = 200;

/** Two runs or two cells: what flipped, what got slower or more expensive, and whether the data can tell. */
export function Compare({
  run,
  before,
  runs,
  params,
}: {
  run: RunResult;
  before: PageBefore | undefined;
  runs: readonly PageRun[] | undefined;
  params: URLSearchParams;
}) {
  const [from, to] = [params.get('from'), params.get('to')];
  const sides = useMemo(
    () =>
      from !== null && to !== null
        ? cellSides(run, from, to)
        : before === undefined
          ? undefined
          : runSides(run, before),
    [run, before, from, to],
  );
  return (
    <section class="compare">
      <h2>Comparison</h2>
      {runs && <RunChoice run={run} before={before} runs={runs} />}
      {(run.cells?.length ?? 0) > 1 && <CellChoice run={run} from={from ?? ''} to={to ?? ''} />}
      {sides === undefined ? (
        <p class="empty">
          {from === null ? 'No run to compare with is chosen.' : 'This run does not have both of these cells.'}
        </p>
      ) : (
        <Differences sides={sides} id={params.get('q')} />
      )}
    </section>
  );
}

function RunChoice({
  run,
  before,
  runs,
}: {
  run: RunResult;
  before: PageBefore | undefined;
  runs: readonly PageRun[];
}) {
  const choose = (change: Record<string, string>) => {
    const chosen = { run: run.run_id, before: before?.run_id ?? '', ...change };
    location.hash = `#/compare?${new URLSearchParams(chosen).toString()}`;
  };
  const finished = runs.filter((each) => each.finished);
  const options = (without: string | undefined) =>
    finished
      .filter(({ id }) => id !== without)
      .map(({ id, started_at, agent }) => (
        <option key={id} value={id}>
          {visible(`${time(started_at)} · ${agent} · ${id}`)}
        </option>
      ));
  return (
    <p class="choice">
      <label>
        Before{' '}
        <select
          aria-label="Run before"
          value={before?.run_id ?? ''}
          onChange={(event) => choose({ before: event.currentTarget.value })}
        >
          <option value="">choose a run</option>
          {options(run.run_id)}
        </select>
      </label>
      <label>
        After{' '}
        <select
          aria-label="Run after"
          value={run.run_id}
          onChange={(event) => choose({ run: event.currentTarget.value })}
        >
          {options(before?.run_id)}
        </select>
      </label>
    </p>
  );
}

function CellChoice({ run, from, to }: { run: RunResult; from: string; to: string }) {
  const names = (run.cells ?? []).map(({ cell }) => cellText(cell));
  const reference = run.cell_comparisons?.[0] ? cellText(run.cell_comparisons[0].reference) : names[0]!;
  const other = names.find((name) => name !== reference)!;
  const choose = (a: string, b: string) => {
    location.hash = cellPairHref(a, b);
  };
  const select = (label: string, value: string, onChoose: (name: string) => void) => (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">choose a cell</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <p class="choice">
      {select('Cell', from, (name) => choose(name, to || (name === other ? reference : other)))}
      {select('against cell', to, (name) => choose(from || (name === reference ? other : reference), name))}
    </p>
  );
}

function Differences({ sides, id }: { sides: Sides; id: string | null }) {
  const { comparison, before, after } = sides;
  const [isOpen, setOpen] = useState(true);
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    setOpen(true);
    if (id !== null) place.current?.scrollIntoView({ block: 'start' });
  }, [id]);
  return (
    <>
      <p>
        {visible(`${before.name} → ${after.name}`)}: {plural(comparison.summary.pairs, 'query', 'queries')} in both.
      </p>
      <p class="verdict-words">{visible(comparison.headline)}</p>
      {id !== null && (
        <details class="one-pair" ref={place} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            <strong>{visible(id)}</strong> {visible(sides.asked.get(id) ?? '')}
          </summary>
          <Pair key={`${before.name}\n${after.name}\n${id}`} sides={sides} id={id} />
        </details>
      )}
      <Flips sides={sides} />
      <Changes sides={sides} />
      <MetricTable metrics={comparison.metrics} />
      <Names title="Only in the one before" ids={comparison.only_before} />
      <Names title="Only in the one after" ids={comparison.only_after} />
      <Names title="Without a verdict in one of them" ids={comparison.undecided} />
    </>
  );
}

const Names = ({ title, ids }: { title: string; ids: readonly string[] }) =>
  ids.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <p class="wrap">
        {visible(ids.slice(0, MAX_NAMES).join(', '))}
        {ids.length > MAX_NAMES ? ` and ${ids.length - MAX_NAMES} more` : ''}
      </p>
    </>
  );
