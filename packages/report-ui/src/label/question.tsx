import type { LabelItem } from '@agentci/results';
import type { RefObject } from 'preact';
import { visible } from '../visible-text.ts';

/** The question, the answer, and its requirements. */
export function Question({
  item,
  heading,
  isDisputed,
}: {
  item: LabelItem;
  heading: RefObject<HTMLHeadingElement | null>;
  isDisputed: boolean;
}) {
  return (
    <>
      <section>
        <p class="sub">
          {visible(item.name)}
          {isDisputed && <span class="tag">raters disagree</span>}
        </p>
        <h2 ref={heading} tabIndex={-1} class="asked">
          {visible(item.query)}
        </h2>
      </section>
      <section aria-labelledby="answer">
        <h3 id="answer">Answer</h3>
        <pre tabIndex={0}>{visible(item.answer) || ' '}</pre>
      </section>
      <section aria-labelledby="wanted">
        <h3 id="wanted">Does it meet this?</h3>
        <blockquote>
          {visible(item.rule ?? 'No rubric: is this a good answer to the question?')}
        </blockquote>
        {item.scale !== undefined && (
          <details>
            <summary>Scale: {item.min_score} or more passes</summary>
            <ul>
              {item.scale.map((step) => (
                <li key={step}>{visible(step)}</li>
              ))}
            </ul>
          </details>
        )}
        {item.context_missing !== undefined && (
          <p class="notice">The judge sees more than this: {visible(item.context_missing)}.</p>
        )}
        {item.context?.map((text, index) => (
          <details key={text}>
            <summary>
              Context {index + 1} of {item.context!.length}
            </summary>
            <pre tabIndex={0}>{visible(text)}</pre>
          </details>
        ))}
      </section>
    </>
  );
}
