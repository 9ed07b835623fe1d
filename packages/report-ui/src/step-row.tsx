import type { PageStep } from '@agentci/results';
import { count, ms, plural, usd } from './format.ts';
import { isBad, type StepGroup } from './step-groups.ts';
import { visible } from './visible-text.ts';

/** A step, or a folded line of repeated steps: `retriever_tool × 11`. */
export function StepGroupRow({ group: { rounds } }: { group: StepGroup }) {
  const [first] = rounds;
  const steps = rounds.flat();
  if (rounds.length === 1)
    return (
      <>
        {steps.map((step) => (
          <StepRow key={step.seq} step={step} />
        ))}
      </>
    );
  const errors = steps.filter(isBad).length;
  const durations = steps.flatMap(({ duration_ms }) =>
    duration_ms === undefined ? [] : [duration_ms],
  );
  const depth = Math.min(...steps.map((step) => step.depth));
  return (
    <details
      class={`step group${first!.length === 1 ? ` ${first![0]!.kind}` : ''}${errors > 0 ? ' bad' : ''}`}
      style={{ '--depth': depth }}
    >
      <summary>
        <span class="seq">
          {steps[0]!.seq}–{steps.at(-1)!.seq}
        </span>
        {first!.length === 1 && <span class="kind">{kindText(first![0]!)}</span>}
        <span class="name">
          {visible(first!.map(({ title }) => title).join(' → '))} × {rounds.length}
        </span>
        {steps[0]!.agent && <span class="sub">{visible(steps[0]!.agent)}</span>}
        {errors > 0 && <span class="status fail">{plural(errors, 'error')}</span>}
        <span class="grow" />
        {durations.length === steps.length && (
          <span class="sub nowrap">{ms(durations.reduce((a, b) => a + b, 0))} in all</span>
        )}
      </summary>
      <div class="rounds">
        {steps.map((step) => (
          <StepRow key={step.seq} step={step} />
        ))}
      </div>
    </details>
  );
}

const kindText = ({ kind }: PageStep): string => (kind === 'llm' ? 'model' : kind);

function StepRow({ step }: { step: PageStep }) {
  const { seq, kind, title, depth, agent, status, error, duration_ms, fields } = step;
  const bad = isBad(step);
  const tokens =
    step.input_tokens === undefined && step.output_tokens === undefined
      ? ''
      : `${count(step.input_tokens)} → ${count(step.output_tokens)} tokens`;
  return (
    <details
      id={`step-${seq}`}
      class={`step ${kind}${bad ? ' bad' : ''}`}
      style={{ '--depth': depth }}
    >
      <summary>
        <span class="seq">{seq}</span>
        <span class="kind">{kindText(step)}</span>
        <span class="name">{visible(title)}</span>
        {agent && agent !== title && <span class="sub">{visible(agent)}</span>}
        {bad && <span class="status fail">{visible(status === 'ok' ? 'error' : status)}</span>}
        <span class="grow" />
        {tokens && <span class="sub nowrap">{tokens}</span>}
        {step.cost_usd !== undefined && (
          <span
            class="sub nowrap"
            title={step.cost_computed ? 'computed from tokens with a price table' : 'as recorded'}
          >
            {usd(step.cost_usd)}
          </span>
        )}
        {duration_ms !== undefined && <span class="sub nowrap">{ms(duration_ms)}</span>}
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
