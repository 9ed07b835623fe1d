import type { CheckResult, LayerResult } from '../../agentci/src/results/run-result.ts';
import { plural } from './format.ts';
import { Status } from './status.tsx';
import { valueText, visible } from './visible-text.ts';

/** The checks of a layer: measured value, limit, and the line of the spec that asked for it. */
export function CheckTable({ layer, result }: { layer: string; result: LayerResult }) {
  if (result.checks.length === 0) return null;
  return (
    <section>
      <h3>
        <span class="title">{layer}</span> <Status status={result.status} />
      </h3>
      <table class="grid checks">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Check</th>
            <th scope="col">Finding</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col" class="number">
              Limit
            </th>
            <th scope="col">Spec</th>
          </tr>
        </thead>
        <tbody>
          {result.checks.map((check, i) => (
            <Row key={`${check.id}-${i}`} check={check} layer={layer} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ check, layer }: { check: CheckResult; layer: string }) {
  const { id, status, message, value, limit, location, skip_reason, evidence } = check;
  const steps = [...new Set(evidence.flatMap(({ step }) => (step === undefined ? [] : [step])))];
  const texts = evidence.flatMap(({ text }) => (text === undefined || text === '' ? [] : [text]));
  const name = id.startsWith(`${layer}.`) ? id.slice(layer.length + 1) : id;
  return (
    <tr>
      <td>
        <Status status={status} {...(skip_reason ? { label: skip_reason.replaceAll('_', ' ') } : {})} />
      </td>
      <td>
        <code>{visible(name)}</code>
      </td>
      <td class="wrap">
        {visible(message)}
        {steps.length > 0 && (
          <span class="steps">
            {' '}
            {plural(steps.length, 'step')}:{' '}
            {steps.slice(0, 20).map((step) => (
              <button type="button" class="link" key={step} onClick={() => showStep(step)}>
                {step}
              </button>
            ))}
          </span>
        )}
        {texts.length > 0 && (
          <details>
            <summary>{plural(texts.length, 'piece')} of evidence</summary>
            {texts.slice(0, 50).map((text, i) => (
              <blockquote key={i}>{visible(text)}</blockquote>
            ))}
          </details>
        )}
      </td>
      <td class="number value" data-label="value">
        {valueText(value)}
      </td>
      <td class="number value" data-label="limit">
        {valueText(limit)}
      </td>
      <td class="where">{location ? visible(`${location.file}:${location.line}:${location.column}`) : ''}</td>
    </tr>
  );
}

function showStep(seq: number): void {
  const step = document.getElementById(`step-${seq}`);
  if (!(step instanceof HTMLDetailsElement)) return;
  step.open = true;
  step.scrollIntoView({ block: 'center' });
  step.querySelector('summary')?.focus({ preventScroll: true });
}
