import { mean } from '@agentci/stats';
import { scaleOf } from './scale.ts';
import { axis, colourOf, element, fittedName, svg, text, title } from './svg.ts';

/** The values of one metric in every condition. */
export interface PlotSample {
  readonly name: string;
  /** Index among all conditions, which determines its color. */
  readonly index: number;
  readonly values: readonly number[];
}

const WIDTH = 720;
const LEFT = 170;
const RIGHT = 24;
const ROW = 64;
const BINS = 48;

/**
 * The distribution in each condition: one histogram per row on a shared axis, with a line at the
 * mean.
 */
export function distributionPlot(samples: readonly PlotSample[], label: string): string {
  const scale = scaleOf(
    samples.flatMap(({ values }) => values),
    { from: LEFT, to: WIDTH - RIGHT },
  );
  const bottom = 8 + samples.length * ROW;
  const rows = samples.map((sample, i) =>
    rowOf(sample, { base: 8 + (i + 1) * ROW - 6, at: scale.at }),
  );
  return svg(
    { width: WIDTH, height: bottom + 44 },
    `Distribution of ${label} in each condition`,
    axis(scale, { top: 8, bottom, label }),
    ...rows,
  );
}

function rowOf(
  { name, index, values }: PlotSample,
  { base, at }: { base: number; at: (value: number) => number },
): string {
  const width = (WIDTH - RIGHT - LEFT) / BINS;
  const counts = new Array<number>(BINS).fill(0);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor((at(value) - LEFT) / width)));
    counts[bin] = counts[bin]! + 1;
  }
  const most = Math.max(...counts);
  const bars = counts.flatMap((count, bin) => {
    if (count === 0) return [];
    // A single trial must stay visible next to a hundred.
    const height = Math.max(3, (count / most) * (ROW - 20));
    const where = {
      x: LEFT + bin * width + 0.5,
      y: base - height,
      width: width - 1,
      height,
      rx: 1.5,
    };
    return [
      element(
        'rect',
        { ...where, class: `bar ${colourOf(index)}` },
        title(`${name}: ${count} of ${values.length}`),
      ),
    ];
  });
  const x = at(mean(values)!);
  return [
    text(fittedName(name, LEFT - 18), {
      x: LEFT - 14,
      y: base - 16,
      class: 'name',
      'text-anchor': 'end',
    }),
    text(`n = ${values.length}`, {
      x: LEFT - 14,
      y: base - 1,
      class: 'tick',
      'text-anchor': 'end',
    }),
    ...bars,
    element('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: base, y2: base, class: 'base' }),
    element(
      'line',
      { x1: x, x2: x, y1: base - ROW + 14, y2: base + 3, class: 'mean' },
      title(`${name}: mean`),
    ),
  ].join('');
}
