import { ms, plural } from './format.ts';
import type { LaneChart as Chart, Lane } from './lanes.ts';
import { showStep } from './show-step.ts';
import { isBad } from './step-groups.ts';
import { visible } from './visible-text.ts';

const ROW = 20;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const END_LABELS = new Map([
  [0, 'first'],
  [1, 'last'],
]);
const KINDS = [
  ['llm', 'model'],
  ['tool', 'tool'],
  ['handoff', 'handoff, message'],
  ['other', 'other'],
] as const;

/**
 * The steps of each agent over time, side by side. A click opens the step in the list below, which
 * has all data as text.
 */
export function LaneChart({ chart: { lanes, spanMs } }: { chart: Chart }) {
  const onClick = (event: MouseEvent) => {
    const bar = (event.target as HTMLElement).closest<HTMLElement>('[data-seq]');
    if (bar) showStep(Number(bar.dataset.seq));
  };
  return (
    <figure class="lanes">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a shortcut for the mouse; every step is a summary in the list below. */}
      <div role="img" aria-label={wordsOf(lanes, spanMs)} onClick={onClick}>
        {lanes.map((lane) => (
          <div class="lane" key={lane.name}>
            <span class="lane-name">{lane.name === '' ? 'agent' : visible(lane.name)}</span>
            <div class="lane-track" style={{ height: `${lane.rows * ROW + 4}px` }}>
              {lane.bars.map(({ step, left, width, row }) => (
                <span
                  key={step.seq}
                  data-seq={step.seq}
                  class={`bar-step ${kindOf(step.kind)}${isBad(step) ? ' bad' : ''}`}
                  style={{
                    left: `${left}%`,
                    width: `${Math.min(width, 100 - left)}%`,
                    top: `${row * ROW + 2}px`,
                  }}
                  title={visible(
                    [
                      step.seq,
                      step.title,
                      step.duration_ms === undefined ? '' : ms(step.duration_ms),
                    ].join(' '),
                  )}
                >
                  {isBad(step) ? '✕ ' : ''}
                  {width > 6 ? visible(step.title) : ''}
                </span>
              ))}
            </div>
          </div>
        ))}
        <div class="lane axis">
          <span class="lane-name">{spanMs === undefined ? 'order' : 'time'}</span>
          <div class="ticks">
            {TICKS.map((share) => (
              <span key={share}>
                {spanMs === undefined ? END_LABELS.get(share) : ms(share * spanMs)}
              </span>
            ))}
          </div>
        </div>
      </div>
      <Legend lanes={lanes} />
    </figure>
  );
}

function Legend({ lanes }: Pick<Chart, 'lanes'>) {
  return (
    <figcaption>
      {KINDS.filter(([kind]) =>
        lanes.some(({ bars }) => bars.some(({ step }) => kindOf(step.kind) === kind)),
      ).map(([kind, word]) => (
        <span class="key" key={kind}>
          <span class={`swatch ${kind}`} aria-hidden="true" /> {word}
        </span>
      ))}
      {lanes.some(({ bars }) => bars.some(({ step }) => isBad(step))) && (
        <span class="key">✕ error</span>
      )}
    </figcaption>
  );
}

const kindOf = (kind: string): string => {
  if (kind === 'llm' || kind === 'tool') return kind;
  if (kind === 'handoff' || kind === 'message') return 'handoff';
  return 'other';
};

const wordsOf = (lanes: readonly Lane[], spanMs: number | undefined): string =>
  `${plural(lanes.length, 'lane')}, ${spanMs === undefined ? 'in order' : `over ${ms(spanMs)}`}: ${lanes
    .map(({ name, bars }) => `${name || 'agent'} ${plural(bars.length, 'step')}`)
    .join(', ')}`;
