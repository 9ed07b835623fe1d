import type { CheckStatus } from '../../agentci/src/results/run-result.ts';

const SIGNS: Record<CheckStatus, string> = { pass: '✓', warn: '!', fail: '✕', error: '?', skip: '–' };

/** A status as sign and word: colour alone tells nothing to someone who cannot see it. */
export const Status = ({ status, label }: { status: CheckStatus; label?: string }) => (
  <span class={`status ${status}`}>
    <span aria-hidden="true">{SIGNS[status]}</span> {label ?? status}
  </span>
);

/** A layer in the list: one letter, its status to be heard. */
export const LayerMark = ({ layer, status }: { layer: string; status: CheckStatus }) => (
  <span class={`mark ${status}`} title={`${layer}: ${status}`}>
    <span aria-hidden="true">{SIGNS[status]}</span>
    <span class="sr">{`${layer}: ${status}`}</span>
  </span>
);
