import type { PageEvidence } from '@agentci/results';
import { collapseNames } from './step-groups.ts';
import { Tool, ToolDiff } from './tool-diff.tsx';

const MAX_SHOWN = 200;

/** The called tools, compared with the baseline's if there is one. */
export function ToolSequence({ evidence }: { evidence: PageEvidence | null | undefined }) {
  const tools = evidence?.traces[evidence.shown]?.tools;
  if (!evidence || tools === undefined) return null;
  const { baseline } = evidence;
  return (
    <section aria-labelledby="tools">
      <h3 id="tools">Tools</h3>
      {tools === null && <p class="empty">Tool calls were not captured.</p>}
      {tools !== null && baseline?.tools && (
        <ToolDiff
          before={{ name: `baseline ${baseline.version}`, tools: baseline.tools }}
          after={{ name: 'this run', tools }}
        />
      )}
      {tools !== null && !baseline?.tools && <ToolList tools={tools} />}
    </section>
  );
}

export function ToolList({ tools }: { tools: readonly string[] }) {
  const names = collapseNames(tools);
  if (names.length === 0) return <p class="empty">No tool was called.</p>;
  return (
    <>
      <ol class="tools">
        {names.slice(0, MAX_SHOWN).map(({ name, times }, i) => (
          <li key={i}>
            <Tool name={name} times={times} />
          </li>
        ))}
      </ol>
      {names.length > MAX_SHOWN && <p class="empty">and {names.length - MAX_SHOWN} more</p>}
    </>
  );
}
