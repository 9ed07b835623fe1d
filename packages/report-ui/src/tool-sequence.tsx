import { align } from '../../agentci/src/baseline/align.ts';
import type { PageEvidence } from '../../agentci/src/results/page-data.ts';
import { visible } from './visible-text.ts';

const MAX_SHOWN = 200;

/** The tools called, laid beside the baseline's where there is one. */
export function ToolSequence({ evidence }: { evidence: PageEvidence | null | undefined }) {
  const tools = evidence?.traces[evidence.shown]?.tools;
  if (!evidence || tools === undefined) return null;
  const { baseline } = evidence;
  if (tools === null)
    return (
      <section>
        <h3>Tools</h3>
        <p class="empty">Tool calls were not captured.</p>
      </section>
    );
  const reference = baseline?.tools;
  const edits = reference ? align(reference, tools) : tools.map((text) => ({ op: 'keep' as const, text }));
  const shown = edits.slice(0, MAX_SHOWN);
  return (
    <section>
      <h3>Tools</h3>
      {edits.length === 0 ? (
        <p class="empty">No tool was called{reference ? ', as in the baseline' : ''}.</p>
      ) : reference ? (
        <div class="scroll" tabIndex={0} role="group" aria-label="Tool sequences side by side">
          <table class="sequence">
            <tbody>
              <tr>
                <th scope="row">{visible(`baseline ${baseline.version}`)}</th>
                {shown.map(({ op, text }, i) => (
                  <td key={i} class={op}>
                    {op === 'insert' ? <Gap /> : <Tool name={text} />}
                  </td>
                ))}
              </tr>
              <tr>
                <th scope="row">this run</th>
                {shown.map(({ op, text }, i) => (
                  <td key={i} class={op}>
                    {op === 'delete' ? <Gap /> : <Tool name={text} />}
                  </td>
                ))}
              </tr>
            </tbody>
          </table>
        </div>
      ) : (
        <ol class="tools">
          {shown.map(({ text }, i) => (
            <li key={i}>
              <Tool name={text} />
            </li>
          ))}
        </ol>
      )}
      {edits.length > MAX_SHOWN && <p class="empty">and {edits.length - MAX_SHOWN} more</p>}
    </section>
  );
}

const Tool = ({ name }: { name: string }) => <code class="tool">{visible(name)}</code>;
const Gap = () => (
  <span class="gap">
    <span aria-hidden="true">·</span>
    <span class="sr">not called</span>
  </span>
);
