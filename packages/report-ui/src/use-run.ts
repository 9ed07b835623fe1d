import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { caseText } from '../../agentci/src/results/cell.ts';
import type { PageBefore, PageRun } from '../../agentci/src/results/page-data.ts';
import type { QueryResult, RunResult } from '../../agentci/src/results/run-result.ts';
import { precedingRun } from './preceding-run.ts';
import { data, fetchBefore, fetchRun, fetchRuns } from './source.ts';

const POLL_MS = 1500;

export interface Shown {
  readonly run: RunResult | undefined;
  readonly before: PageBefore | undefined;
  /** Undefined on a page that is a file. */
  readonly runs: readonly PageRun[] | undefined;
  readonly isRunning: boolean;
  readonly isLost: boolean;
}

/** The run to show, and for a live page what has happened since. Who compares gets the run before where none is chosen. */
export function useRun(wantedId: string | null, beforeId: string | null, isComparing: boolean): Shown {
  const [run, setRun] = useState<RunResult | undefined>(data.run);
  const [runs, setRuns] = useState<readonly PageRun[] | undefined>(undefined);
  const [before, setBefore] = useState<PageBefore | undefined>(data.before);
  const [isRunning, setRunning] = useState(false);
  const [isLost, setLost] = useState(false);
  const seen = useRef({ id: '', entries: 0, finished: false });

  const poll = useCallback(async () => {
    const list = await fetchRuns();
    if (list === undefined) throw new Error('no list of runs');
    setRuns((old) => (JSON.stringify(old) === JSON.stringify(list) ? old : list));
    const id = wantedId ?? list[0]?.id;
    if (id === undefined || (seen.current.id === id && seen.current.finished)) return;
    const from = seen.current.id === id ? seen.current.entries : 0;
    const update = await fetchRun(id, from);
    if (update === undefined) return;
    seen.current = { id, entries: update.entries, finished: update.finished };
    setRunning(!update.finished);
    setRun((old) => (update.partial && from > 0 && old ? merge(old, update.run) : update.run));
  }, [wantedId]);

  useEffect(() => {
    if (!data.live) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const again = async () => {
      try {
        if (!document.hidden) await poll();
        setLost(false);
      } catch {
        setLost(true);
      }
      if (!isOver) timer = setTimeout(again, POLL_MS);
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [poll]);

  const after = run?.run_id;
  // An empty choice is one as well: none.
  const chosen = beforeId === null && isComparing ? precedingRun(runs ?? [], after) : beforeId;
  const otherId = chosen || undefined;
  useEffect(() => {
    if (!data.live || after === undefined || isRunning) return;
    setBefore(undefined);
    let isOver = false;
    if (otherId !== undefined && otherId !== after)
      void fetchBefore(otherId, after)
        .then((found) => !isOver && setBefore(found))
        .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [otherId, after, isRunning]);

  return { run, before, runs, isRunning, isLost };
}

function merge(old: RunResult, update: RunResult): RunResult {
  const results = new Map<string, QueryResult>(old.results.map((result) => [caseText(result), result]));
  for (const result of update.results) results.set(caseText(result), result);
  return { ...update, results: [...results.values()] };
}
