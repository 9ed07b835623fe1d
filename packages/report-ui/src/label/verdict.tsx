import type { LabelItem } from '@agentci/results';
import type { RefObject } from 'preact';

const SCORES = [1, 2, 3, 4, 5];

/** The rater's verdict. Every button shows its key. */
export function Verdict({
  item,
  note,
  noteField,
  onNote,
  onNoteDone,
  onLabel,
  onScore,
}: {
  item: LabelItem;
  note: string;
  noteField: RefObject<HTMLTextAreaElement | null>;
  onNote: (note: string) => void;
  onNoteDone: () => void;
  onLabel: (label: 'pass' | 'fail' | null) => void;
  onScore: (score: number) => void;
}) {
  const { mine } = item;
  return (
    <section aria-labelledby="yours" class="yours">
      <h3 id="yours">
        Your label
        {mine !== undefined && (
          <span class={`status ${mine.label}`}>
            {mine.label}
            {mine.score === undefined ? '' : `, ${mine.score} of 5`}
          </span>
        )}
      </h3>
      <div class="choices">
        <button
          type="button"
          class="toggle"
          aria-pressed={mine?.label === 'pass'}
          onClick={() => onLabel('pass')}
        >
          <kbd>p</kbd>Pass
        </button>
        <button
          type="button"
          class="toggle"
          aria-pressed={mine?.label === 'fail'}
          onClick={() => onLabel('fail')}
        >
          <kbd>f</kbd>Fail
        </button>
        {SCORES.map((score) => (
          <button
            type="button"
            class="toggle"
            key={score}
            aria-pressed={mine?.score === score}
            aria-label={`Score ${score} of 5, which is a ${score >= item.min_score ? 'pass' : 'fail'}`}
            onClick={() => onScore(score)}
          >
            <kbd>{score}</kbd>
          </button>
        ))}
        {mine !== undefined && (
          <button type="button" class="toggle" onClick={() => onLabel(null)}>
            <kbd>u</kbd>Take back
          </button>
        )}
      </div>
      <label class="note">
        <span class="label">
          <kbd>n</kbd>Note; <kbd>Esc</kbd>leaves the field
          {mine === undefined ? '' : ' and saves it'}
        </span>
        <textarea
          ref={noteField}
          rows={2}
          maxLength={10000}
          value={note}
          onInput={(event) => onNote(event.currentTarget.value)}
          onBlur={onNoteDone}
        />
      </label>
    </section>
  );
}
