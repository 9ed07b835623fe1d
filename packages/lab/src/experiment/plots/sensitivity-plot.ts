import type { WeightPoint, WeightSensitivity } from '@agentci/results';
import { colourOf, element, svg, text, title } from './svg.ts';

const WIDTH = 720;
const HEIGHT = 470;
const SIDE = 440;
const TOP = 44;
const LEFT = (WIDTH - SIDE) / 2;
const TALL = (SIDE * Math.sqrt(3)) / 2;

/** Every mix of the three weights as a point in a triangle, colored by its best condition. */
export function sensitivityPlot(
  sensitivity: WeightSensitivity,
  conditions: readonly string[],
): string {
  const radius = Math.max(1.5, Math.min(9, SIDE * sensitivity.step * 0.4));
  const dots = sensitivity.points.map((point) => {
    const { x, y } = placeOf(point.weights);
    const [best = []] = point.ranking;
    const colour = best.length === 1 ? colourOf(conditions.indexOf(best[0]!)) : 'tie';
    const order = point.order === 'different' ? ' moved' : '';
    return element(
      'circle',
      { cx: x, cy: y, r: radius, class: `mix ${colour}${order}` },
      title(wordsOf(point)),
    );
  });
  const mark = placeOf(sensitivity.reference.weights);
  const corner = (weights: WeightPoint['weights']) => {
    const { x, y } = placeOf(weights);
    return `${Math.round(x)},${Math.round(y)}`;
  };
  const corners = [ONLY_VALIDITY, ONLY_SPECIFICITY, ONLY_CORRECTNESS];
  return svg(
    { width: WIDTH, height: HEIGHT },
    'Which condition is best for every mix of weights of validity, specificity and correctness',
    element('polygon', { points: corners.map(corner).join(' '), class: 'frame' }),
    ...dots,
    element('circle', { cx: mark.x, cy: mark.y, r: radius + 3, class: 'mark-edge' }),
    element(
      'circle',
      { cx: mark.x, cy: mark.y, r: radius + 3, class: 'mark' },
      title(`the weights used: ${wordsOf(sensitivity.reference)}`),
    ),
    text('only validity', { x: WIDTH / 2, y: TOP - 18, class: 'name', 'text-anchor': 'middle' }),
    text('only specificity', {
      x: LEFT,
      y: TOP + TALL + 28,
      class: 'name',
      'text-anchor': 'middle',
    }),
    text('only correctness', {
      x: LEFT + SIDE,
      y: TOP + TALL + 28,
      class: 'name',
      'text-anchor': 'middle',
    }),
  );
}

const ONLY_VALIDITY = { validity: 1, specificity: 0, correctness: 0 };
const ONLY_SPECIFICITY = { validity: 0, specificity: 1, correctness: 0 };
const ONLY_CORRECTNESS = { validity: 0, specificity: 0, correctness: 1 };

const placeOf = ({ validity, correctness }: WeightPoint['weights']): { x: number; y: number } => ({
  x: LEFT + SIDE * (correctness + validity / 2),
  y: TOP + TALL * (1 - validity),
});

const wordsOf = ({
  weights: { validity, specificity, correctness },
  ranking,
}: Omit<WeightPoint, 'order' | 'means'>): string =>
  `validity ${validity.toFixed(2)}, specificity ${specificity.toFixed(2)}, correctness ${correctness.toFixed(2)}: ${ranking
    .map((tied) => tied.join(' = '))
    .join(' > ')}`;
