import type { LabelItem, LabelRequest, LabelState } from '@agentci/results';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../keys.ts';
import { visible } from '../visible-text.ts';
import { fetchItem, fetchState, saveLabel } from './label-source.ts';
import { OtherVerdicts } from './other-verdicts.tsx';
import { Progress } from './progress.tsx';
import { Question } from './question.tsx';
import { Verdict } from './verdict.tsx';

type Queue = 'new' | 'disputed';

/** Shows one answer at a time: read it, label it, then see the judge and the other raters. */
export function LabelApp() {
  const [state, setState] = useState<LabelState>();
  const [item, setItem] = useState<LabelItem>();
  const [queue, setQueue] = useState<Queue>('new');
  const [problem, setProblem] = useState<string>();
  const [note, setNote] = useState('');
  const noteField = useRef<HTMLTextAreaElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const seen = useRef<string[]>([]);
  const passed = useRef(new Set<string>());
  const current = useRef<LabelItem | undefined>(undefined);
  const last = useRef(Promise.resolve());
  const put = (next: LabelItem | undefined) => {
    current.current = next;
    setItem(next);
  };

  /** Runs actions in key order, so that none is lost while a label is being saved. */
  const attempt = (work: () => Promise<void>): Promise<void> => {
    last.current = last.current.then(work).then(
      () => setProblem(undefined),
      (error: Error) => setProblem(error.message),
    );
    return last.current;
  };

  const show = async (id: string | undefined) => {
    if (id === undefined) return put(undefined);
    const next = await fetchItem(id);
    put(next);
    setNote(next.mine?.note ?? '');
    heading.current?.focus();
  };

  const nextIn = (now: LabelState, of: Queue): string | undefined => {
    const ids = of === 'disputed' ? now.disputed : now.queue;
    const open = ids.filter((id) => !passed.current.has(id));
    // Skipped answers return when no others are left.
    if (open.length === 0 && of === 'new') passed.current.clear();
    return open[0] ?? (of === 'new' ? ids[0] : undefined);
  };

  const start = (of: Queue) =>
    attempt(async () => {
      const now = await fetchState();
      passed.current.clear();
      setState(now);
      setQueue(of);
      await show(nextIn(now, of));
    });

  const forward = () =>
    attempt(async () => {
      const done = current.current?.id;
      if (done !== undefined) {
        passed.current.add(done);
        seen.current.push(done);
      }
      const now = await fetchState();
      setState(now);
      await show(nextIn(now, queue));
    });

  const back = () =>
    attempt(async () => {
      const before = seen.current.pop();
      if (before !== undefined) await show(before);
    });

  const save = (label: LabelRequest['label'], score?: number) =>
    attempt(async () => {
      // A key pressed during loading was meant for the previous answer, which is gone.
      if (item === undefined || current.current?.id !== item.id) return;
      const given = {
        id: item.id,
        label,
        score,
        note: note || undefined,
      };
      const saved = await saveLabel(given);
      put(saved.item);
      setState(saved.state);
      if (label === null) setNote('');
    });

  const saveNote = () => {
    if (item?.mine !== undefined && (item.mine.note ?? '') !== note)
      return save(item.mine.label, item.mine.score);
  };

  useEffect(() => void start('new'), []);
  const scored = (score: number) =>
    save(item !== undefined && score >= item.min_score ? 'pass' : 'fail', score);
  useKeys(
    {
      p: () => save('pass'),
      f: () => save('fail'),
      ...Object.fromEntries([1, 2, 3, 4, 5].map((score) => [String(score), () => scored(score)])),
      n: () => noteField.current?.focus(),
      u: () => item?.mine !== undefined && save(null),
      s: forward,
      b: back,
      d: () => start(queue === 'new' ? 'disputed' : 'new'),
      Escape: () => noteField.current?.blur(),
    },
    [item, note, queue, state],
  );

  return (
    <>
      <a class="skip-link" href="#answer">
        Skip to the answer
      </a>
      {state !== undefined && <Progress state={state} />}
      <main class="labelling">
        {problem !== undefined && (
          <p class="notice error" role="alert">
            Not saved or not loaded: {visible(problem)}. Check that agentci view is still running,
            then try again.
          </p>
        )}
        {item === undefined ? (
          state !== undefined && <Done state={state} queue={queue} />
        ) : (
          <>
            <Question item={item} heading={heading} isDisputed={queue === 'disputed'} />
            <Verdict
              item={item}
              note={note}
              noteField={noteField}
              onNote={setNote}
              onNoteDone={saveNote}
              onLabel={save}
              onScore={scored}
            />
            <div role="status">{item.after !== undefined && <OtherVerdicts item={item} />}</div>
          </>
        )}
        <nav class="moves" aria-label="Answers">
          <button type="button" onClick={back}>
            <kbd>b</kbd>Back
          </button>
          <button type="button" onClick={forward}>
            <kbd>s</kbd>
            {item?.mine === undefined ? 'Skip' : 'Next'}
          </button>
          <button type="button" onClick={() => start(queue === 'new' ? 'disputed' : 'new')}>
            <kbd>d</kbd>
            {queue === 'new'
              ? `Disagreements (${state?.disputed.length ?? 0})`
              : 'Answers without a label'}
          </button>
        </nav>
      </main>
    </>
  );
}

function Done({ state, queue }: { state: LabelState; queue: Queue }) {
  if (queue === 'disputed') return <p class="empty">No disagreements are left to look at.</p>;
  return (
    <p class="empty">
      All {state.total} answers have your label. Compare the judge with them:{' '}
      <code>agentci judge calibrate --labels labels</code>
    </p>
  );
}
