import type { LabelItem } from '@agentci/results';
import { visible } from '../visible-text.ts';

/** The verdicts of the judge and other raters, for a rater who has decided. */
export function OtherVerdicts({ item }: { item: LabelItem }) {
  const { judge, others } = item.after!;
  return (
    <section aria-labelledby="others">
      <h3 id="others">What others said</h3>
      {judge.verdicts.length === 0 && <p class="sub">The judge gave no verdict on this answer.</p>}
      {judge.verdicts.map((verdict, index) => (
        <figure class="reply" key={index}>
          <figcaption>
            {visible(verdict.model)}:{' '}
            <span class={`status ${verdict.score >= item.min_score ? 'pass' : 'fail'}`}>
              {verdict.score >= item.min_score ? 'pass' : 'fail'}, {verdict.score} of 5
            </span>
          </figcaption>
          <blockquote>{visible(verdict.rationale)}</blockquote>
        </figure>
      ))}
      {others.map((other) => (
        <figure class="reply" key={other.rater}>
          <figcaption>
            {visible(other.rater)}:{' '}
            <span class={`status ${other.label}`}>
              {other.label}
              {other.score === undefined ? '' : `, ${other.score} of 5`}
            </span>
          </figcaption>
          {other.note !== undefined && <blockquote>{visible(other.note)}</blockquote>}
        </figure>
      ))}
    </section>
  );
}
