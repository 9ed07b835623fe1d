import type { PageBefore, PageRun, QueryResult, RunResult } from '@agentci/results';
import { caseText } from '@agentci/results';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { precedingRun } from './preceding-run.ts';
import { data, fetchBefore, fetchRun, fetchRuns } from './source.ts';

const POLL_MS = 1500;

export interface Shown {
  readonly run: RunResult | undefined;
  readonly before: PageBefore | undefined;
  /** The other side is loading, or does not exist. */
  readonly comparing: 'waiting' | 'missing' | undefined;
  /** Undefined for a page opened from a file. */
  readonly runs: readonly PageRun[] | undefined;
  readonly isRunning: boolean;
  readonly isLost: boolean;
}

/**
 * The displayed run with live updates. A comparison defaults to the preceding run. `afterId` is a
 * version that replaces the run.
 */
export function useRun(
  wantedId: string | null,
  {
    beforeId,
    afterId,
    isComparing,
  }: { beforeId: string | null; afterId: string | null; isComparing: boolean },
): Shown {
  const [run, setRun] = useState<RunResult | undefined>(data.run);
  const [runs, setRuns] = useState<readonly PageRun[] | undefined>(undefined);
  const [before, setBefore] = useState<PageBefore | undefined>(data.before);
  const [comparing, setComparing] = useState<Shown['comparing']>(undefined);
  const [isRunning, setRunning] = useState(false);
  const [isLost, setLost] = useState(false);
  const seen = useRef({ id: '', entries: 0, finished: false });

  const poll = useCallback(async () => {
    const list = await fetchRuns();
    if (list === undefined) throw new Error('the list of runs could not be loaded');
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

  const after = afterId ?? run?.run_id;
  // An empty choice means none.
  const chosen =
    beforeId === null && isComparing && afterId === null
      ? precedingRun(runs ?? [], after)
      : beforeId;
  const otherId = chosen || undefined;
  const isOpen = afterId === null && isRunning;
  useEffect(() => {
    if (!data.live || after === undefined || isOpen) return;
    setBefore(undefined);
    setComparing(undefined);
    if (otherId === undefined || otherId === after) return;
    let isOver = false;
    const show = (found: PageBefore | undefined) => {
      if (isOver) return;
      setBefore(found);
      setComparing(found === undefined ? 'missing' : undefined);
    };
    setComparing('waiting');
    void fetchBefore(otherId, after)
      .catch(() => undefined)
      .then(show);
    return () => {
      isOver = true;
    };
  }, [otherId, after, isOpen]);

  return { run, before, comparing, runs, isRunning, isLost };
}

function merge(old: RunResult, update: RunResult): RunResult {
  const results = new Map<string, QueryResult>(
    old.results.map((result) => [caseText(result), result]),
  );
  for (const result of update.results) results.set(caseText(result), result);
  return { ...update, results: [...results.values()] };
}
