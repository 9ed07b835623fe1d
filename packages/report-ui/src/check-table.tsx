import type { CheckResult, LayerResult } from '@agentci/results';
import { checkValue } from './check-value.ts';
import { Status } from './status.tsx';
import { EvidenceTexts, StepLinks } from './verdict.tsx';
import { visible } from './visible-text.ts';

/** The checks of a layer: measured value, limit, and line in the spec. */
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
  const { id, status, message, value, limit, location, skip_reason } = check;
  const name = id.startsWith(`${layer}.`) ? id.slice(layer.length + 1) : id;
  return (
    <tr>
      <td>
        <Status status={status} label={skip_reason?.replaceAll('_', ' ')} />
      </td>
      <td>
        <code>{visible(name)}</code>
      </td>
      <td class="wrap">
        {visible(message)} <StepLinks check={check} />
        <EvidenceTexts check={check} />
      </td>
      <td class={valueClass(value)} data-label="value">
        {checkValue(id, value)}
      </td>
      <td class={valueClass(limit)} data-label="limit">
        {checkValue(id, limit)}
      </td>
      <td class="where">
        {location ? visible(`${location.file}:${location.line}:${location.column}`) : ''}
      </td>
    </tr>
  );
}

/** A number stays on one line. A text may wrap. */
const valueClass = (value: unknown): string =>
  `number value${typeof value === 'number' ? ' nowrap' : ''}`;
