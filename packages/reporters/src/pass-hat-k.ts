import type { RunSummaryCounts } from '@agentci/results';

/** pass^k of the suite as a formatted table. Empty below two queries. */
export function passHatTable({ pass_hat_k = [] }: RunSummaryCounts): {
  readonly head: string[];
  readonly rows: string[][];
} {
  // A single query shows it in its own lines.
  if ((pass_hat_k[0]?.tasks ?? 0) < 2) return { head: [], rows: [] };
  return {
    head: ['k', ...pass_hat_k.map(({ k }) => String(k))],
    rows: [
      ['pass^k', ...pass_hat_k.map(({ value }) => value.toFixed(3))],
      ['standard error', ...pass_hat_k.map(({ se }) => (se === null ? '-' : se.toFixed(3)))],
      ['tasks', ...pass_hat_k.map(({ tasks }) => String(tasks))],
    ],
  };
}

/** The same in one line: `pass^1 0.460 ± 0.050, pass^2 …`. */
export const passHatLine = ({ pass_hat_k = [] }: RunSummaryCounts): string =>
  pass_hat_k
    .map(
      ({ k, value, se }) =>
        `pass^${k} ${value.toFixed(3)}${se === null ? '' : ` ± ${se.toFixed(3)}`}`,
    )
    .join(', ');
