import { useMemo, useState } from 'preact/hooks';
import { textDiff } from '../../agentci/src/baseline/text-diff.ts';
import { visible } from './visible-text.ts';

interface Reference {
  readonly name: string;
  readonly text: string;
}

/** The answer as it was given, or word by word against another. */
export function Answer({ answer, references }: { answer: string | null; references: readonly Reference[] }) {
  const [shown, setShown] = useState('');
  const reference = references.find(({ name }) => name === shown);
  return (
    <section>
      <h3>
        <span class="title">Answer</span>
        {answer !== null &&
          references.map(({ name, text }) => (
            <button
              type="button"
              class="toggle"
              key={name}
              aria-pressed={shown === name}
              onClick={() => setShown(shown === name ? '' : name)}
            >
              {text === answer ? `same as ${name}` : `diff with ${name}`}
            </button>
          ))}
      </h3>
      {answer === null ? (
        <p class="empty">No final answer was captured.</p>
      ) : reference ? (
        <Diff before={reference.text} after={answer} />
      ) : (
        <pre class="answer" tabIndex={0}>
          {answer === '' ? '(empty)' : visible(answer)}
        </pre>
      )}
    </section>
  );
}

function Diff({ before, after }: { before: string; after: string }) {
  const { edits, shortened } = useMemo(() => textDiff(before, after), [before, after]);
  return (
    <>
      <pre class="answer" tabIndex={0}>
        {edits.map(({ op, text }, i) =>
          op === 'keep' ? (
            <span key={i}>{visible(text)}</span>
          ) : op === 'delete' ? (
            <del key={i}>{visible(text)}</del>
          ) : (
            <ins key={i}>{visible(text)}</ins>
          ),
        )}
      </pre>
      {shortened && <p class="empty">Only the beginnings of these answers are compared.</p>}
    </>
  );
}
