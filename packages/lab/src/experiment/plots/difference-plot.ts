import { present } from '@agentci/lib/data';
import { scaleOf } from './scale.ts';
import { axis, element, fittedName, svg, text, title } from './svg.ts';

export interface PlotDifference {
  readonly a: string;
  readonly b: string;
  readonly difference: number;
  readonly interval: { readonly low: number; readonly high: number } | null;
}

const WIDTH = 720;
const LEFT = 300;
const RIGHT = 24;
const ROW = 34;
/** Width of each of the two names. */
const NAME = (LEFT - 18 - 24) / 2;

/**
 * The difference of each pair of conditions with its 95 % interval. An interval without 0 is drawn
 * filled.
 */
export function differencePlot(
  pairs: readonly PlotDifference[],
  { label, format }: { label: string; format: (value: number) => string },
): string {
  const ends = pairs.flatMap(({ difference, interval }) => [
    difference,
    interval?.low ?? 0,
    interval?.high ?? 0,
  ]);
  const scale = scaleOf([0, ...ends], { from: LEFT, to: WIDTH - RIGHT });
  const bottom = 8 + pairs.length * ROW;
  const zero = scale.at(0);
  const rows = pairs.map(({ a, b, difference, interval }, i) => {
    const y = 8 + i * ROW + ROW / 2;
    const isClear = interval !== null && (interval.low > 0 || interval.high < 0);
    const range =
      interval === null ? 'no interval' : `${format(interval.low)} to ${format(interval.high)}`;
    return present([
      text(`${fittedName(b, NAME)} − ${fittedName(a, NAME)}`, {
        x: LEFT - 14,
        y: y + 4,
        class: 'name',
        'text-anchor': 'end',
      }),
      interval === null
        ? undefined
        : element('line', {
            x1: scale.at(interval.low),
            x2: scale.at(interval.high),
            y1: y,
            y2: y,
            class: 'range',
          }),
      element(
        'circle',
        { cx: scale.at(difference), cy: y, r: 4.5, class: isClear ? 'pair' : 'pair open' },
        title(`${b} − ${a}: ${format(difference)} (${range})`),
      ),
    ]).join('');
  });
  return svg(
    { width: WIDTH, height: bottom + 44 },
    `Differences of ${label} between conditions with 95 % intervals`,
    axis(scale, { top: 8, bottom, label: `difference in ${label}` }),
    element('line', { x1: zero, x2: zero, y1: 8, y2: bottom, class: 'threshold' }),
    ...rows,
  );
}
