import { align } from '@agentci/run/baseline';
import { visible } from './visible-text.ts';

const MAX_SHOWN = 200;

interface Called {
  readonly name: string;
  readonly tools: readonly string[];
}

interface Piece {
  readonly op: 'keep' | 'delete' | 'insert';
  readonly text: string;
  times: number;
}

/** The diff of two call sequences, with repetitions folded. */
export function ToolDiff({ before, after }: { before: Called; after: Called }) {
  const pieces: Piece[] = [];
  for (const { op, text } of align(before.tools, after.tools)) {
    const last = pieces.at(-1);
    if (last?.op === op && last.text === text) last.times++;
    else pieces.push({ op, text, times: 1 });
  }
  const shown = pieces.slice(0, MAX_SHOWN);
  if (pieces.length === 0) return <p class="empty">No tool was called on either side.</p>;
  return (
    <>
      <div class="scroll" tabIndex={0} role="group" aria-label="Tool sequences side by side">
        <table class="sequence">
          <tbody>
            {(['insert', 'delete'] as const).map((absent) => (
              <tr key={absent}>
                <th scope="row">{visible(absent === 'insert' ? before.name : after.name)}</th>
                {shown.map(({ op, text, times }, i) => (
                  <td key={i} class={op}>
                    {op === absent ? <Gap /> : <Tool name={text} times={times} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pieces.length > MAX_SHOWN && <p class="empty">and {pieces.length - MAX_SHOWN} more</p>}
    </>
  );
}

export const Tool = ({ name, times }: { name: string; times: number }) => (
  <code class="tool">
    {visible(name)}
    {times > 1 && ` × ${times}`}
  </code>
);

const Gap = () => (
  <span class="gap">
    <span aria-hidden="true">·</span>
    <span class="sr">not called</span>
  </span>
);
