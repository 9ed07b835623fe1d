import { reasonOf } from '@agentci/reporters/shared';
import { caseText, cellText, LAYERS, type QueryResult } from '@agentci/results';
import { useEffect, useRef, useState } from 'preact/hooks';
import { FilterBar } from './filter-bar.tsx';
import { type Filters, usageOf } from './filters.ts';
import { count, ms, usd } from './format.ts';
import { useKeys } from './keys.ts';
import { queryHref } from './router.ts';
import { LayerMark, Status } from './status.tsx';
import { useVirtualRows } from './virtual-rows.ts';
import { visible } from './visible-text.ts';

/** Two lines. On a narrow screen, layers and numbers get a third line. */
const ROW_HEIGHT = 56;
const NARROW_ROW_HEIGHT = 88;
const narrow = matchMedia('(max-width: 820px)');

function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const onChange = () => setNarrow(narrow.matches);
    narrow.addEventListener('change', onChange);
    return () => narrow.removeEventListener('change', onChange);
  }, []);
  return isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
}

/** Restores the position after the reader visited a query. */
const place = { active: -1, scroll: 0 };

export function QueryList({
  all,
  found,
  filters,
  onFilter,
  onOpen,
  isPrinting,
}: {
  all: readonly QueryResult[];
  found: readonly QueryResult[];
  filters: Filters;
  onFilter: (filters: Filters) => void;
  onOpen: (id: string) => void;
  isPrinting: boolean;
}) {
  const rowHeight = useRowHeight();
  const { ref, range } = useVirtualRows({ count: found.length, rowHeight });
  // The active row belongs to one set of filters. New filters reset it immediately.
  const [chosen, setChosen] = useState({ filters, row: place.active });
  const activeOf = (choice: typeof chosen) => (choice.filters === filters ? choice.row : -1);
  const active = activeOf(chosen);
  const search = useRef<HTMLInputElement>(null);
  const { from, to } = isPrinting ? { from: 0, to: found.length } : range;

  useEffect(() => {
    scrollTo(0, place.scroll);
    const remember = () => {
      place.scroll = scrollY;
    };
    addEventListener('scroll', remember, { passive: true });
    return () => removeEventListener('scroll', remember);
  }, []);
  useEffect(() => {
    place.active = active;
    if (active < 0) return;
    bringIntoView(ref.current, active, rowHeight);
    // The row may only exist after the scroll.
    requestAnimationFrame(() =>
      ref.current
        ?.querySelector<HTMLElement>(`[data-row="${active}"]`)
        ?.focus({ preventScroll: true }),
    );
  }, [active]);
  const move = (by: number) => () =>
    setChosen((old) => ({
      filters,
      row: Math.min(found.length - 1, Math.max(0, activeOf(old) + by)),
    }));
  useKeys(
    {
      j: move(1),
      ArrowDown: move(1),
      k: move(-1),
      ArrowUp: move(-1),
      Enter: () => {
        const focused = document.activeElement;
        const result = found[active];
        if (focused instanceof HTMLElement && focused.matches('button, a, summary'))
          focused.click();
        else if (result) onOpen(caseText(result));
      },
      '/': () => search.current?.focus(),
      Escape: () => {
        if (document.activeElement === search.current) search.current?.blur();
        else setChosen({ filters, row: -1 });
      },
    },
    [found, active],
  );

  return (
    <section aria-labelledby="list-title">
      <h2 id="list-title" class="sr">
        Queries
      </h2>
      <FilterBar
        all={all}
        found={found.length}
        filters={filters}
        onFilter={onFilter}
        search={search}
      />
      <div class="list" role="table" aria-rowcount={found.length + 1} aria-label="Queries">
        <div role="rowgroup">
          <div class="row head" role="row" aria-rowindex={1}>
            <span role="columnheader">Status</span>
            <span role="columnheader">Query</span>
            <span role="columnheader" class="marks">
              Layers
            </span>
            <span role="columnheader" class="number">
              Cost
            </span>
            <span role="columnheader" class="number tokens">
              Tokens
            </span>
            <span role="columnheader" class="number">
              Latency
            </span>
          </div>
        </div>
        <div
          ref={ref}
          role="rowgroup"
          style={{ height: `${found.length * rowHeight}px`, position: 'relative' }}
        >
          {found.slice(from, to).map((result, i) => (
            <Row
              key={caseText(result)}
              result={result}
              index={from + i}
              top={(from + i) * rowHeight}
              isActive={from + i === active}
            />
          ))}
        </div>
      </div>
      {found.length === 0 && <p class="empty">No query passes these filters.</p>}
    </section>
  );
}

function bringIntoView(list: HTMLElement | null, index: number, rowHeight: number): void {
  if (!list) return;
  const top = list.getBoundingClientRect().top + index * rowHeight;
  const bar = document.querySelector('.filters')?.getBoundingClientRect().bottom ?? 0;
  if (top < bar) scrollBy(0, top - bar - 8);
  else if (top + rowHeight > innerHeight) scrollBy(0, top + rowHeight - innerHeight + 8);
}

function RowFacts({ result }: { result: QueryResult }) {
  const reason = reasonOf(result);
  const { id, cell, tags, runs } = result;
  return (
    <span class="sub">
      <code>{visible(id)}</code>
      {reason !== undefined && (
        <span class={`reason ${result.status}`} title={visible(reason)}>
          {visible(reason.split('\n', 1)[0]!.slice(0, 300))}
        </span>
      )}
      {cell && <span class="cell-name">{visible(cellText(cell))}</span>}
      {runs && <span class="extra">{runs.length} runs, numbers are their means</span>}
      {tags.map((tag) => (
        <span class="tag" key={tag}>
          {visible(tag)}
        </span>
      ))}
    </span>
  );
}

function Row({
  result,
  index,
  top,
  isActive,
}: {
  result: QueryResult;
  index: number;
  top: number;
  isActive: boolean;
}) {
  const usage = usageOf(result);
  const { query, xfail } = result;
  return (
    <div
      class={`row${isActive ? ' active' : ''}`}
      role="row"
      aria-rowindex={index + 2}
      style={{ top: `${top}px` }}
    >
      <span role="cell">
        <Status
          status={result.status}
          label={xfail && result.status === 'skip' ? 'xfail' : undefined}
        />
      </span>
      <span role="cell" class="what">
        <a href={queryHref(caseText(result))} data-row={index}>
          {visible(query)}
        </a>
        <RowFacts result={result} />
      </span>
      <span role="cell" class="marks">
        {LAYERS.map((layer) => (
          <LayerMark key={layer} layer={layer} status={result[layer].status} />
        ))}
      </span>
      <span role="cell" class="number">
        {usd(usage.cost_usd)}
      </span>
      <span role="cell" class="number tokens">
        {count(usage.total_tokens)}
      </span>
      <span role="cell" class="number">
        {ms(usage.latency_ms)}
      </span>
    </div>
  );
}
