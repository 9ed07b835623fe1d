import type { MetricSummary } from '@agentci/results';
import { scaleOf } from './scale.ts';
import { axis, colourOf, element, fittedName, svg, text, title } from './svg.ts';

export interface PlotInterval {
  readonly name: string;
  readonly index: number;
  readonly summary: MetricSummary;
}

const WIDTH = 720;
const LEFT = 170;
const RIGHT = 120;
const ROW = 36;

/**
 * The mean of each condition with its 95 % interval. A condition without spread is a hollow mark.
 */
export function intervalPlot(
  intervals: readonly PlotInterval[],
  { label, format }: { label: string; format: (value: number) => string },
): string {
  const ends = intervals.flatMap(({ summary: { mean, ci95 } }) => [
    mean,
    ci95?.low ?? mean,
    ci95?.high ?? mean,
  ]);
  const scale = scaleOf(ends, { from: LEFT, to: WIDTH - RIGHT });
  const bottom = 8 + intervals.length * ROW;
  const rows = intervals.map(({ name, index, summary }, i) => {
    const y = 8 + i * ROW + ROW / 2;
    const { mean, ci95, zero_variance } = summary;
    const x = scale.at(mean);
    const [low, high] = [scale.at(ci95?.low ?? mean), scale.at(ci95?.high ?? mean)];
    const words =
      ci95 === null || zero_variance
        ? format(mean)
        : `${format(mean)} (${format(ci95.low)} to ${format(ci95.high)})`;
    return [
      text(fittedName(name, LEFT - 18), {
        x: LEFT - 14,
        y: y + 4,
        class: 'name',
        'text-anchor': 'end',
      }),
      element('line', { x1: low, x2: high, y1: y, y2: y, class: `whisker ${colourOf(index)}` }),
      ...[low, high].map((end) =>
        element('line', {
          x1: end,
          x2: end,
          y1: y - 6,
          y2: y + 6,
          class: `whisker ${colourOf(index)}`,
        }),
      ),
      element(
        'circle',
        { cx: x, cy: y, r: 5.5, class: `dot ${colourOf(index)}${zero_variance ? ' hollow' : ''}` },
        title(`${name}: ${words}`),
      ),
      text(zero_variance ? `${format(mean)}, no spread` : format(mean), {
        x: WIDTH - RIGHT + 12,
        y: y + 4,
        class: 'value',
      }),
    ].join('');
  });
  return svg(
    { width: WIDTH, height: bottom + 44 },
    `Mean and 95 % interval of ${label} in each condition`,
    axis(scale, { top: 8, bottom, label }),
    ...rows,
  );
}
