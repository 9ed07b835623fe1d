import { answerMarks } from '@agentci/reporters/shared';
import type { QueryResult } from '@agentci/results';
import { textDiff } from '@agentci/run/baseline';
import { useMemo, useState } from 'preact/hooks';
import { MarkedText } from './marked-text.tsx';
import { visible } from './visible-text.ts';

interface Reference {
  readonly name: string;
  readonly text: string;
}

/** The agent's answer, with the decisive words marked, or as a word diff with another answer. */
export function Answer({
  result,
  references,
}: {
  result: QueryResult;
  references: readonly Reference[];
}) {
  const { answer, correctness } = result;
  const [shown, setShown] = useState('');
  const reference = references.find(({ name }) => name === shown);
  const marks = useMemo(
    () => (answer === null ? [] : answerMarks(answer, correctness)),
    [answer, correctness],
  );
  return (
    <section aria-labelledby="said">
      <h3>
        <span id="said">Said</span>
        {answer !== null &&
          references.map(({ name, text }) => (
            <button
              type="button"
              class="toggle"
              key={name}
              aria-pressed={shown === name}
              onClick={() => setShown(shown === name ? '' : name)}
            >
              {visible(text === answer ? `same as ${name}` : `diff with ${name}`)}
            </button>
          ))}
      </h3>
      {answer === null && <p class="empty">No final answer was captured.</p>}
      {answer !== null && reference && <TextDiff before={reference.text} after={answer} />}
      {answer !== null && !reference && (
        <pre class="answer" tabIndex={0}>
          {answer === '' ? '(empty)' : <MarkedText text={answer} marks={marks} />}
        </pre>
      )}
    </section>
  );
}

/** The diff of two texts as one text. */
export function TextDiff({ before, after }: { before: string; after: string }) {
  const { edits, shortened } = useMemo(() => textDiff(before, after), [before, after]);
  return (
    <>
      <pre class="answer" tabIndex={0}>
        {edits.map(({ op, text }, i) => {
          if (op === 'keep') return <span key={i}>{visible(text)}</span>;
          if (op === 'delete') return <del key={i}>{visible(text)}</del>;
          return <ins key={i}>{visible(text)}</ins>;
        })}
      </pre>
      {shortened && <p class="empty">Only the beginnings of these answers are compared.</p>}
    </>
  );
}
