import type { RunResult } from '@agentci/results';
import { cellText, NOT_COUNTED } from '@agentci/results';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Changes } from './changes.tsx';
import { CopyButton } from './copy-button.tsx';
import { Flips } from './flips.tsx';
import { plural } from './format.ts';
import { MetricTable } from './metric-table.tsx';
import { Pair } from './pair.tsx';
import { cellPairHref } from './router.ts';
import { SideChoice } from './side-choice.tsx';
import { cellSides, runSides, type Sides } from './sides.ts';
import type { Shown } from './use-run.ts';
import { visible } from './visible-text.ts';

const WHY_EMPTY = {
  waiting: 'Comparing…',
  missing: 'One of the two is not there, is not finished, or cannot be read.',
  none: 'Nothing to compare with is chosen.',
} as const;

const MAX_NAMES = 200;

/**
 * Compares two runs, versions or cells: flips, cost and latency changes, and whether the data is
 * sufficient.
 */
export function Compare({ shown, params }: { shown: Shown; params: URLSearchParams }) {
  const { run, before, comparing, runs } = shown;
  const [from, to] = [params.get('from'), params.get('to')];
  const isOfCells = from !== null && to !== null;
  const sides = useMemo(() => {
    if (isOfCells) return run && cellSides(run, from, to);
    if (before === undefined || (run === undefined && before.after === undefined)) return undefined;
    return runSides(run, before);
  }, [run, before, from, to]);
  return (
    <section class="compare">
      <h2>Comparison</h2>
      {runs && (
        <SideChoice
          run={run?.run_id}
          before={isOfCells ? undefined : (before?.run_id ?? params.get('before') ?? undefined)}
          after={params.get('after') ?? undefined}
          runs={runs}
        />
      )}
      {(run?.cells?.length ?? 0) > 1 && <CellChoice run={run!} from={from ?? ''} to={to ?? ''} />}
      {sides === undefined ? (
        <p class="empty" role="status">
          {isOfCells
            ? 'This run does not have both of these cells.'
            : WHY_EMPTY[comparing ?? 'none']}
        </p>
      ) : (
        <>
          {runs && <CopyButton label="Copy link" text={() => linkTo(sides, isOfCells)} />}
          {(isOfCells ? [] : (before?.notices ?? [])).map((notice) => (
            <p class="notice" key={notice}>
              {visible(notice)}
            </p>
          ))}
          <Differences sides={sides} id={params.get('q')} />
        </>
      )}
    </section>
  );
}

/** Permanent link to this comparison. It names both sides, because the newest runs change. */
function linkTo({ before, after }: Sides, isOfCells: boolean): string {
  const params = new URLSearchParams(location.hash.split('?', 2)[1] ?? '');
  if (isOfCells) params.set('run', after.runId);
  else {
    params.set('before', before.runId);
    params.set(after.isVersion ? 'after' : 'run', after.runId);
  }
  return `${location.href.split('#', 1)[0]}#/compare?${params.toString()}`;
}

function CellChoice({ run, from, to }: { run: RunResult; from: string; to: string }) {
  const names = (run.cells ?? []).map(({ cell }) => cellText(cell));
  const reference = run.cell_comparisons?.[0]
    ? cellText(run.cell_comparisons[0].reference)
    : names[0]!;
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
      {select('against cell', to, (name) =>
        choose(from || (name === reference ? other : reference), name),
      )}
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
        {visible(`${before.name} → ${after.name}`)}:{' '}
        {plural(comparison.summary.pairs, 'query', 'queries')} in both.
      </p>
      <p class="verdict-words">{visible(comparison.headline)}</p>
      {id !== null && (
        <details
          class="one-pair"
          ref={place}
          open={isOpen}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
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
      <Names title={NOT_COUNTED} ids={comparison.undecided} />
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
