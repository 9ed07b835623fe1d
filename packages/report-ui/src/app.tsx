import { caseText } from '@agentci/results';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Cells } from './cells.tsx';
import { Charts } from './charts.tsx';
import { Compare } from './compare.tsx';
import { applyFilters, type Filters, NO_FILTERS, warmUp } from './filters.ts';
import { Header } from './header.tsx';
import { Help } from './help.tsx';
import { useKeys } from './keys.ts';
import { Overview } from './overview.tsx';
import { QueryList } from './query-list.tsx';
import { QueryPage } from './query-page.tsx';
import { queryHref, useRoute } from './router.ts';
import { Runs } from './runs.tsx';
import { nextTheme } from './theme.ts';
import { useRun } from './use-run.ts';

export function App({ isPrinting }: { isPrinting: boolean }) {
  const route = useRoute();
  const [runId, setRunId] = useState<string | null>(route.params.get('run'));
  const [beforeId, setBeforeId] = useState<string | null>(route.params.get('before'));
  const [filters, setFilters] = useState<Filters>(NO_FILTERS);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const isComparing = route.page === 'compare' && !route.params.has('from');
  const shown = useRun(runId, {
    beforeId,
    afterId: isComparing ? route.params.get('after') : null,
    isComparing,
  });
  const { run, before, runs } = shown;

  useEffect(() => {
    const wanted = route.params.get('run');
    if (wanted !== null) setRunId(wanted === 'newest' ? null : wanted);
    const other = route.params.get('before');
    if (other !== null) setBeforeId(other);
  }, [route]);
  useKeys({ '?': () => setHelpOpen(true), t: () => void nextTheme() }, []);

  const results = run?.results;
  useEffect(() => {
    let isOver = false;
    warmUp(results ?? [], () => isOver);
    return () => {
      isOver = true;
    };
  }, [results]);
  const found = useMemo(() => applyFilters(results ?? [], filters), [results, filters]);
  const result =
    route.page === 'query' ? results?.find((each) => caseText(each) === route.id) : undefined;

  useEffect(() => {
    document.title = [result && caseText(result), run?.agent, 'AgentCI']
      .filter(Boolean)
      .join(' · ');
  }, [result, run]);

  const open = (id: string | undefined) => {
    if (id !== undefined) location.hash = queryHref(id);
  };

  const page = () => {
    if (route.page === 'runs') return <Runs runs={runs ?? []} current={run?.run_id} />;
    const hasNoRuns = runs?.length === 0;
    if (run === undefined && !(route.page === 'compare' && hasNoRuns))
      return (
        <p class="empty">
          {hasNoRuns ? 'Nothing has been run here yet: agentci test stores a run.' : 'Loading…'}
        </p>
      );
    if (route.page === 'compare') return <Compare shown={shown} params={route.params} />;
    if (route.page === 'charts') return <Charts results={run!.results} onOpen={open} />;
    if (route.page === 'query')
      return result ? (
        <QueryPage
          key={`${run!.run_id}/${caseText(result)}`}
          run={run!}
          result={result}
          siblings={found}
          before={before}
        />
      ) : (
        <p class="empty">
          This run has no query <code>{route.id}</code>. <a href="#/">All queries</a>
        </p>
      );
    return (
      <>
        <Overview run={run!} filters={filters} onFilter={setFilters} />
        <Cells run={run!} />
        <QueryList
          all={run!.results}
          found={found}
          filters={filters}
          onFilter={setFilters}
          onOpen={open}
          isPrinting={isPrinting}
        />
      </>
    );
  };

  return (
    <>
      <button
        type="button"
        class="skip-link"
        onClick={() => document.getElementById('main')?.focus()}
      >
        Skip to the content
      </button>
      <Header shown={shown} page={route.page} onHelp={() => setHelpOpen(true)} />
      <main id="main" tabIndex={-1}>
        {page()}
      </main>
      <Help isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </>
  );
}
