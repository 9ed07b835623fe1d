import type { PageEvidence, PageTrace } from '@agentci/results';
import { useMemo, useState } from 'preact/hooks';
import { count, ms, plural } from './format.ts';
import { LaneChart } from './lane-chart.tsx';
import { layLanes } from './lanes.ts';
import { groupSteps, type OrderedSteps, orderSteps } from './step-groups.ts';
import { StepGroupRow } from './step-row.tsx';
import { visible } from './visible-text.ts';

const FIRST_GROUPS = 200;

/** Describes the basis of the order if it is not the clock. */
function orderWords({ basis, steps }: OrderedSteps): string {
  if (basis === 'times') return '';
  if (basis === 'some times')
    return 'Some steps have no time, so all are in the order of the recording.';
  return steps.some(({ duration_ms }) => duration_ms !== undefined)
    ? 'The recording has no start times: steps are in the order it has them, with how long each took. Bars show the order only.'
    : 'The recording has no times: steps are in the order it has them, and bars show the order, not how long it took.';
}

/** The simple form lists model calls and tool calls separately. */
const isUnmixed = ({ format, steps }: PageTrace, { basis }: OrderedSteps): boolean =>
  format === 'simple' &&
  basis === 'recording' &&
  steps.some(({ kind }) => kind === 'llm') &&
  steps.some(({ kind }) => kind === 'tool');

/** The agents' actions: one lane each, and every step in order, with repetitions folded. */
export function Timeline({ evidence }: { evidence: PageEvidence }) {
  const [at, setAt] = useState(evidence.shown);
  const [isWhole, setWhole] = useState(false);
  const trace = evidence.traces[at] ?? evidence.traces[0]!;
  const { ordered, groups, chart } = useMemo(() => {
    const ordered = orderSteps(trace.steps);
    return { ordered, groups: groupSteps(ordered.steps), chart: layLanes(ordered) };
  }, [trace]);
  const shown = isWhole ? groups : groups.slice(0, FIRST_GROUPS);
  return (
    <section class="timeline" aria-labelledby="trajectory">
      <h3>
        <span id="trajectory">Trajectory</span>
        {evidence.traces.length > 1 && <TraceChoice evidence={evidence} at={at} onChoose={setAt} />}
        <small>
          {[
            plural(trace.steps.length + (trace.left_out ?? 0), 'step'),
            ms(trace.duration_ms),
            `format ${visible(trace.format)}`,
          ].join(' · ')}
        </small>
      </h3>
      {trace.error && <p class="notice error">{visible(trace.error)}</p>}
      {trace.warnings.map((warning) => (
        <p class="notice" key={warning}>
          {visible(warning)}
        </p>
      ))}
      {trace.steps.length === 0 && <p class="empty">The recording has no steps.</p>}
      {trace.steps.length > 1 && ordered.basis !== 'times' && (
        <p class="empty">
          {orderWords(ordered)}
          {isUnmixed(trace, ordered) && ' How model and tool calls alternated is not recorded.'}
        </p>
      )}
      {chart.lanes.length > 0 && trace.steps.length > 1 && <LaneChart chart={chart} />}
      {shown.map((group) => (
        <StepGroupRow key={group.rounds[0]![0]!.seq} group={group} />
      ))}
      {!isWhole && groups.length > FIRST_GROUPS && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {count(trace.steps.length)} steps
        </button>
      )}
      {trace.left_out && (
        <p class="notice">
          {plural(trace.left_out, 'further step')} of this trace are not on the page.
        </p>
      )}
    </section>
  );
}

function TraceChoice({
  evidence,
  at,
  onChoose,
}: {
  evidence: PageEvidence;
  at: number;
  onChoose: (at: number) => void;
}) {
  return (
    <select
      aria-label="Trace"
      value={at}
      onChange={(event) => onChoose(Number(event.currentTarget.value))}
    >
      {evidence.traces.map((_, i) => (
        <option key={i} value={i}>
          {`trace ${i + 1} of ${evidence.traces.length}${i === evidence.shown ? ' (judged above)' : ''}`}
        </option>
      ))}
    </select>
  );
}
