import { mean, quantile } from '@agentci/stats';
import type { PlotSample } from './distribution-plot.ts';
import { scaleOf } from './scale.ts';
import { axis, colourOf, element, fittedName, svg, text, title } from './svg.ts';

/** A meaningful value, drawn across all conditions. */
export interface Threshold {
  readonly value: number;
  readonly label: string;
}

export interface BoxPlotOptions {
  readonly label: string;
  readonly format: (value: number) => string;
  readonly thresholds?: readonly Threshold[];
  /** Lower bound of the axis, because prices cannot be negative. */
  readonly least?: number | undefined;
  /** Fixed ends of the scale, so that similar measures are visually comparable. */
  readonly ends?: readonly [number, number];
}

const WIDTH = 720;
const LEFT = 170;
const RIGHT = 24;
const ROW = 58;
const TOP = 24;
const HALF = 11;
/** Maximum number of points per condition. More would overlap. */
const MAX_POINTS = 400;

/**
 * Quartiles, whiskers to the last value within 1.5 times the interquartile range, the mean, and
 * every trial as a point.
 */
export function boxPlot(samples: readonly PlotSample[], options: BoxPlotOptions): string {
  const { label, thresholds = [], ends = [] } = options;
  const values = samples.flatMap((sample) => sample.values);
  const scale = scaleOf([...values, ...ends], {
    from: LEFT,
    to: WIDTH - RIGHT,
    least: options.least,
  });
  const [low, high] = [scale.ticks[0]!, scale.ticks.at(-1)!];
  const bottom = TOP + samples.length * ROW;
  const lines = thresholds
    .filter(({ value }) => value >= low && value <= high)
    .map(({ value, label: name }) => {
      const x = scale.at(value);
      return (
        element('line', { x1: x, x2: x, y1: TOP - 6, y2: bottom, class: 'threshold' }) +
        text(name, { x, y: TOP - 10, class: 'tick', 'text-anchor': 'middle' })
      );
    });
  const rows = samples.map((sample, i) =>
    rowOf(sample, { y: TOP + i * ROW + ROW / 2, at: scale.at, ...options }),
  );
  return svg(
    { width: WIDTH, height: bottom + 44 },
    `Box plot of ${label} in each condition`,
    axis(scale, { top: TOP, bottom, label }),
    ...lines,
    ...rows,
  );
}

function rowOf(
  { name, index, values }: PlotSample,
  {
    y,
    at,
    format,
  }: { y: number; at: (value: number) => number; format: (value: number) => string },
): string {
  if (values.length === 0) return '';
  const [q1, middle, q3] = [0.25, 0.5, 0.75].map((q) => quantile(values, q)!) as [
    number,
    number,
    number,
  ];
  const reach = 1.5 * (q3 - q1);
  const inside = values.filter((value) => value >= q1 - reach && value <= q3 + reach);
  const [least, most] = [leastOf(inside), mostOf(inside)];
  const colour = colourOf(index);
  const line = (x1: number, x2: number, y1: number, y2: number, kind: string): string =>
    element('line', { x1, x2, y1, y2, class: kind });
  const words = `${name}: median ${format(middle)}, quartiles ${format(q1)} to ${format(q3)}, mean ${format(mean(values)!)}, n = ${values.length}`;
  const box = { x: at(q1), y: y - HALF, width: Math.max(1, at(q3) - at(q1)), height: 2 * HALF };
  return [
    text(fittedName(name, LEFT - 18), { x: LEFT - 14, y, class: 'name', 'text-anchor': 'end' }),
    text(`n = ${values.length}`, { x: LEFT - 14, y: y + 15, class: 'tick', 'text-anchor': 'end' }),
    line(at(least), at(q1), y, y, `whisker ${colour}`),
    line(at(q3), at(most), y, y, `whisker ${colour}`),
    element('rect', { ...box, class: `box ${colour}` }, title(words)),
    ...pointsOf(values).map((value, i) =>
      element('circle', { cx: at(value), cy: y + jitter(i), r: 2, class: `point ${colour}` }),
    ),
    line(at(middle), at(middle), y - HALF, y + HALF, 'median'),
    element(
      'circle',
      { cx: at(mean(values)!), cy: y, r: 4, class: `dot hollow ${colour}` },
      title(`${name}: mean`),
    ),
  ].join('');
}

const leastOf = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b));
const mostOf = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b));

/** Limits the points to a visible number, evenly from the lowest to the highest. */
function pointsOf(values: readonly number[]): readonly number[] {
  if (values.length <= MAX_POINTS) return values;
  const sorted = [...values].sort((a, b) => a - b);
  return Array.from(
    { length: MAX_POINTS },
    (_, i) => sorted[Math.round((i * (sorted.length - 1)) / (MAX_POINTS - 1))]!,
  );
}

/** Places equal values next to each other, deterministically. */
const jitter = (i: number): number => ((i * 7) % 19) - 9;
