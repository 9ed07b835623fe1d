import { formatCount, plural } from '@agentci/lib/text';
import { decidingChecks } from '@agentci/reporters/shared';
import type { CheckResult, Layer, QueryResult } from '@agentci/results';
import { checkValue } from './check-value.ts';
import { showStep } from './show-step.ts';
import { SIGNS, Status } from './status.tsx';
import { visible } from './visible-text.ts';
import { type Wanted, wantedOf } from './wanted.ts';

const TERM_CLASS = new Map<boolean | undefined, string>([
  [true, 'met'],
  [false, 'unmet'],
]);

/** The query's expectations: the terms one by one, and the limits of the spec. */
export function WantedList({ result }: { result: QueryResult }) {
  const list = wantedOf(result);
  if (list.length === 0) return null;
  return (
    <section aria-labelledby="wanted">
      <h3 id="wanted">Wanted</h3>
      <ul class="wanted">
        {list.map((one, i) => (
          <WantedItem key={`${one.check.id}-${i}`} wanted={one} />
        ))}
      </ul>
    </section>
  );
}

function WantedItem({ wanted: { check, words, limit, terms } }: { wanted: Wanted }) {
  return (
    <li>
      <span class={`mark ${check.status}`} aria-hidden="true">
        {SIGNS[check.status]}
      </span>
      <span class="sr">{check.status}: </span>
      <span>
        {visible(words)}
        {limit === undefined ? ' ' : ': '}
        {limit !== undefined && <code>{limit}</code>}
        {terms?.map(({ text, isMet }, i) => (
          <code key={i} class={`term ${TERM_CLASS.get(isMet) ?? ''}`}>
            {isMet !== undefined && <span aria-hidden="true">{isMet ? '✓ ' : '✕ '}</span>}
            {visible(text)}
            {isMet === false && <span class="sr"> (not met)</span>}
          </code>
        ))}
      </span>
    </li>
  );
}

/** The decisive checks, each with its finding, its numbers and its line in the spec. */
export function DecidedBy({ result }: { result: QueryResult }) {
  const deciding = decidingChecks(result);
  const { error, skip, not_run: notRun, xfail } = result;
  if (deciding.length === 0 && !error && !skip && !notRun && !xfail) return null;
  return (
    <section aria-labelledby="decided">
      <h3 id="decided">Decided by</h3>
      {error && (
        <div class="notice error">
          <strong>{error.kind} error</strong> {visible(error.message)}
          {error.stderr && <pre tabIndex={0}>{visible(error.stderr)}</pre>}
        </div>
      )}
      {skip && <p class="notice">Skipped: {visible(skip.reason)}</p>}
      {notRun && <p class="notice">Not run: {visible(notRun)}</p>}
      {xfail && (
        <p class="notice">
          Expected to fail: {visible(xfail.reason)} (it was <Status status={xfail.status} />)
        </p>
      )}
      <ul class="decided">
        {deciding.map(({ layer, check }, i) => (
          <Decision key={`${check.id}-${i}`} layer={layer} check={check} />
        ))}
      </ul>
    </section>
  );
}

function Decision({ layer, check }: { layer: Layer; check: CheckResult }) {
  const { id, status, message, value, limit, location } = check;
  const numbers = [
    typeof value === 'number' && `value ${checkValue(id, value)}`,
    typeof limit === 'number' && `limit ${checkValue(id, limit)}`,
  ].filter(Boolean);
  return (
    <li>
      <p class="facts">
        <Status status={status} label={layer} />
        <code>{visible(id.startsWith(`${layer}.`) ? id.slice(layer.length + 1) : id)}</code>
        {numbers.map((text) => (
          <span class="nowrap" key={String(text)}>
            {text}
          </span>
        ))}
        {location && (
          <span class="where">
            {visible(`${location.file}:${location.line}:${location.column}`)}
          </span>
        )}
      </p>
      <p class="finding">
        {visible(message)} <StepLinks check={check} />
      </p>
      <EvidenceTexts check={check} />
    </li>
  );
}

const MAX_STEPS = 20;
const MAX_TEXTS = 50;

/** Links from a check's evidence to the steps of the trajectory. */
export function StepLinks({ check: { evidence } }: { check: CheckResult }) {
  const listed = evidence.filter(({ step }) => step !== undefined);
  const steps = [...new Set(listed.map(({ step }) => step!))];
  if (steps.length === 0) return null;
  const all = steps.length + unlisted(listed);
  const shown = steps.slice(0, MAX_STEPS);
  return (
    <span class="steps">
      · {plural(all, 'step')}:{' '}
      {shown.map((step) => (
        <button
          type="button"
          class="link"
          key={step}
          onClick={() => showStep(step)}
          aria-label={`show step ${step}`}
        >
          {step}
        </button>
      ))}
      {all > shown.length && ` and ${formatCount(all - shown.length)} more`}
    </span>
  );
}

/** Number of findings that a check did not list. */
const unlisted = (evidence: CheckResult['evidence']): number =>
  evidence.reduce((sum, { more = 0 }) => sum + more, 0);

/** Texts quoted by a check, without names of steps that are linked anyway. */
export function EvidenceTexts({ check: { evidence, message } }: { check: CheckResult }) {
  const quoted = evidence.filter(
    ({ step, text }) =>
      text !== undefined && text !== '' && step === undefined && !message.includes(text),
  );
  if (quoted.length === 0) return null;
  const all = quoted.length + unlisted(quoted);
  const shown = quoted.slice(0, MAX_TEXTS);
  return (
    <details>
      <summary>{plural(all, 'piece')} of evidence</summary>
      {shown.map(({ text }, i) => (
        <blockquote key={i}>{visible(text!)}</blockquote>
      ))}
      {all > shown.length && <p class="empty">and {formatCount(all - shown.length)} more</p>}
    </details>
  );
}
