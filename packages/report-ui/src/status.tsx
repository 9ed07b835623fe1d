import type { CheckStatus } from '@agentci/results';

export const SIGNS: Record<CheckStatus, string> = {
  pass: '✓',
  warn: '!',
  fail: '✕',
  error: '?',
  skip: '–',
};

/** A status as sign and word: colour alone tells nothing to someone who cannot see it. */
export const Status = ({ status, label }: { status: CheckStatus; label?: string }) => (
  <span class={`status ${status}`}>
    <span aria-hidden="true">{SIGNS[status]}</span> {label ?? status}
  </span>
);

/** A layer in the list: its name, its status as a sign and to be heard. */
export const LayerMark = ({ layer, status }: { layer: string; status: CheckStatus }) => (
  <span class={`layer-mark ${status}`} title={`${layer}: ${status}`}>
    <span aria-hidden="true">{SIGNS[status]}</span> <span class="name">{layer}</span>
    <span class="sr">: {status}</span>
  </span>
);
