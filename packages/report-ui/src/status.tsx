import type { CheckStatus } from '@agentci/results';

export const SIGNS: Record<CheckStatus, string> = {
  pass: '✓',
  warn: '!',
  fail: '✕',
  error: '?',
  skip: '–',
};

/** A status as sign and word, because color alone is not accessible. */
export const Status = ({ status, label }: { status: CheckStatus; label?: string }) => (
  <span class={`status ${status}`}>
    <span aria-hidden="true">{SIGNS[status]}</span> {label ?? status}
  </span>
);

/** A layer in the list: its name and status, also for screen readers. */
export const LayerMark = ({ layer, status }: { layer: string; status: CheckStatus }) => (
  <span class={`layer-mark ${status}`} title={`${layer}: ${status}`}>
    <span aria-hidden="true">{SIGNS[status]}</span> <span class="name">{layer}</span>
    <span class="sr">: {status}</span>
  </span>
);
