import type { LabelPair, LabelState } from '@agentci/results';
import { visible } from '../visible-text.ts';

/** The rater, the progress, and the raters' agreement. */
export function Progress({ state }: { state: LabelState }) {
  const { rater, agent, run, file, total, labelled, judged, unreadable, pairs, revised } = state;
  return (
    <header class="top">
      <div class="bar">
        <span class="brand">AgentCI</span>
        <h1>Labels for {visible(agent)}</h1>
      </div>
      <p class="about">
        {visible(rater)} has labelled {labelled} of {total} · run {visible(run)} · saved to{' '}
        {visible(file)} ·{' '}
        {judged === 0
          ? 'the judge has no verdicts here, so answers come in a shuffled order'
          : 'answers the judge is least certain about come first'}
      </p>
      {pairs.map((pair) => (
        <p class="about" key={`${pair.a}\n${pair.b}`}>
          {visible(pairText(pair))}
        </p>
      ))}
      {revised > 0 && (
        <p class="about">
          {revised} {revised === 1 ? 'label was' : 'labels were'} changed after the judge and others
          were shown: agreement is of those from before
        </p>
      )}
      {unreadable > 0 && (
        <p class="notice">
          {unreadable} lines of label files could not be read; agentci judge calibrate --labels
          labels names them.
        </p>
      )}
    </header>
  );
}

const share = (value: number): string => `${(value * 100).toFixed(0)} %`;

export function pairText({
  a,
  b,
  n,
  agreed,
  agreed_interval: range,
  kappa,
  kappa_interval: spread,
}: LabelPair): string {
  const between =
    range === null ? '' : ` (95 % interval ${share(range.low)} to ${share(range.high)})`;
  const beyond =
    kappa === null
      ? 'kappa is undefined: one of them gave one label only'
      : `kappa ${kappa.toFixed(2)}${spread === null ? '' : ` (${spread.low.toFixed(2)} to ${spread.high.toFixed(2)})`}`;
  return `${a} and ${b} agree on ${agreed} of ${n}${between}, ${beyond}`;
}
