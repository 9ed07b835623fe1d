import { useState } from 'preact/hooks';
import type { PageEvidence, PageStep, PageTrace } from '../../agentci/src/results/page-data.ts';
import { count, ms, plural, usd } from './format.ts';
import { visible } from './visible-text.ts';

const FIRST_STEPS = 200;

/** What the agent did, step by step: nested, timed where times were recorded, each to be unfolded. */
export function Timeline({ evidence }: { evidence: PageEvidence }) {
  const [at, setAt] = useState(evidence.shown);
  const [isWhole, setWhole] = useState(false);
  const trace = evidence.traces[at] ?? evidence.traces[0]!;
  const steps = isWhole ? trace.steps : trace.steps.slice(0, FIRST_STEPS);
  const span = spanOf(trace);
  return (
    <section class="timeline">
      <h3>
        <span class="title">Timeline</span>
        {evidence.traces.length > 1 && (
          <select aria-label="Trace" value={at} onChange={(event) => setAt(Number(event.currentTarget.value))}>
            {evidence.traces.map((_, i) => (
              <option key={i} value={i}>
                {`trace ${i + 1} of ${evidence.traces.length}${i === evidence.shown ? ' (judged above)' : ''}`}
              </option>
            ))}
          </select>
        )}
        <small>
          {[
            plural(trace.steps.length + (trace.left_out ?? 0), 'step'),
            ms(trace.duration_ms),
            `format ${trace.format}`,
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
      {steps.map((step) => (
        <StepRow key={step.seq} step={step} span={span} />
      ))}
      {!isWhole && trace.steps.length > FIRST_STEPS && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {count(trace.steps.length)} steps
        </button>
      )}
      {trace.left_out && (
        <p class="notice">{plural(trace.left_out, 'further step')} of this trace are not on the page.</p>
      )}
    </section>
  );
}

function spanOf(trace: PageTrace): number | undefined {
  const ends = trace.steps.map((step) => (step.start_ms ?? 0) + (step.duration_ms ?? 0));
  const timed = trace.steps.filter((step) => step.start_ms !== undefined && step.duration_ms !== undefined).length;
  const last = Math.max(0, ...ends);
  return timed > 1 && last > 0 ? last : undefined;
}

function StepRow({ step, span }: { step: PageStep; span: number | undefined }) {
  const { seq, kind, title, depth, agent, status, error, start_ms, duration_ms, fields } = step;
  const isBad = status === 'error' || status === 'denied' || error !== undefined;
  const tokens =
    step.input_tokens === undefined && step.output_tokens === undefined
      ? ''
      : `${count(step.input_tokens)} → ${count(step.output_tokens)} tokens`;
  return (
    <details id={`step-${seq}`} class={`step ${kind}${isBad ? ' bad' : ''}`} style={{ marginLeft: `${depth * 20}px` }}>
      <summary>
        <span class="seq">{seq}</span>
        <span class="kind">{kind}</span>
        <span class="name">{visible(title)}</span>
        {agent && <span class="sub">{visible(agent)}</span>}
        {isBad && <span class="status fail">{visible(status)}</span>}
        <span class="grow" />
        {tokens && <span class="sub">{tokens}</span>}
        {step.cost_usd !== undefined && (
          <span class="sub" title={step.cost_computed ? 'computed from tokens with a price table' : 'as recorded'}>
            {usd(step.cost_usd)}
          </span>
        )}
        {duration_ms !== undefined && <span class="sub">{ms(duration_ms)}</span>}
        {span !== undefined && (
          <span class="track" aria-hidden="true">
            {start_ms !== undefined && (
              <span
                style={{
                  left: `${Math.min(99, (100 * start_ms) / span)}%`,
                  width: `${Math.max(1, (100 * (duration_ms ?? 0)) / span)}%`,
                }}
              />
            )}
          </span>
        )}
      </summary>
      <div class="fields">
        {error && <Field label="error" text={error} />}
        {fields.map(({ label, text }, i) => (
          <Field key={i} label={label} text={text} />
        ))}
        {fields.length === 0 && !error && <p class="empty">Nothing more was recorded.</p>}
      </div>
    </details>
  );
}

const Field = ({ label, text }: { label: string; text: string }) => (
  <div class="field">
    <span class="label">{visible(label)}</span>
    <pre tabIndex={0}>{visible(text)}</pre>
  </div>
);
