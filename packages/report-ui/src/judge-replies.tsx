import { valueText, visible } from './visible-text.ts';

interface Reply {
  readonly check?: string;
  readonly model?: string;
  readonly rubric?: { readonly id?: string };
  readonly score?: number;
  readonly label?: string;
  readonly rationale?: string;
  readonly error?: { readonly message?: string };
}

/** The reply of each judge. */
export function JudgeReplies({ details }: { details: Readonly<Record<string, unknown>> }) {
  const replies = Array.isArray(details.judge) ? (details.judge as Reply[]) : [];
  if (replies.length === 0) return null;
  return (
    <section>
      <h3>Judge</h3>
      {replies.map((reply, i) => (
        <figure class="reply" key={i}>
          <figcaption>
            <code>{valueText(reply.check)}</code> {valueText(reply.rubric?.id)} ·{' '}
            {valueText(reply.model)}
            {reply.score !== undefined && (
              <>
                {' '}
                · <strong>{valueText(reply.score)} of 5</strong> ({valueText(reply.label)})
              </>
            )}
          </figcaption>
          <blockquote>{visible(String(reply.rationale ?? reply.error?.message ?? ''))}</blockquote>
        </figure>
      ))}
    </section>
  );
}
