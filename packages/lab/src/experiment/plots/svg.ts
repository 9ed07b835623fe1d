import { escapeHtml } from '@agentci/lib/text';
import type { Scale } from './scale.ts';

/** Colors of conditions are CSS classes, so that light and dark pages can define them. */
export const COLOURS = 8;
export const colourOf = (index: number): string => `c${index % COLOURS}`;

type Attributes = Readonly<Record<string, string | number>>;

/** Creates an SVG element. The only place that escapes text and attributes. */
export function element(
  name: string,
  attributes: Attributes,
  ...children: readonly string[]
): string {
  const written = Object.entries(attributes)
    .map(
      ([key, value]) => ` ${key}="${escapeHtml(typeof value === 'number' ? short(value) : value)}"`,
    )
    .join('');
  return children.length === 0
    ? `<${name}${written}/>`
    : `<${name}${written}>${children.join('')}</${name}>`;
}

export const text = (content: string, attributes: Attributes): string =>
  element('text', attributes, escapeHtml(content));
export const title = (content: string): string => element('title', {}, escapeHtml(content));

/** An image with its description for screen readers. */
export const svg = (
  size: { width: number; height: number },
  label: string,
  ...children: readonly string[]
): string =>
  element(
    'svg',
    {
      viewBox: `0 0 ${size.width} ${size.height}`,
      role: 'img',
      'aria-label': label,
      class: 'plot',
    },
    ...children,
  );

/** Ticks, labels and light grid lines of an axis. */
export function axis(
  scale: Scale,
  { top, bottom, label }: { top: number; bottom: number; label: string },
): string {
  const middle = (scale.at(scale.ticks[0]!) + scale.at(scale.ticks.at(-1)!)) / 2;
  return [
    ...scale.ticks.map((tick) => {
      const x = scale.at(tick);
      return (
        element('line', { x1: x, x2: x, y1: top, y2: bottom, class: 'grid' }) +
        text(scale.label(tick), { x, y: bottom + 16, class: 'tick', 'text-anchor': 'middle' })
      );
    }),
    text(label, { x: middle, y: bottom + 36, class: 'axis', 'text-anchor': 'middle' }),
  ].join('');
}

/** A hundredth of a pixel is precise enough and keeps the file small. */
const short = (value: number): string => String(Math.round(value * 100) / 100);

/** Approximate pixels per character at 12 px, average and bold. Wide letters take more. */
const WIDE = /[A-Z@%&mwMW\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]/;
const widthOf = (text: string): number =>
  [...text].reduce((sum, char) => sum + (WIDE.test(char) ? 10.5 : 6.9), 0);

/**
 * Shortens a name to this width. Cuts the middle, because similar names often differ at the end.
 */
export function fittedName(name: string, width: number): string {
  const chars = [...name];
  if (widthOf(name) <= width) return name;
  for (let kept = chars.length - 1; kept > 1; kept--) {
    const head = Math.ceil(kept / 2);
    const cut = `${chars.slice(0, head).join('')}…${chars.slice(chars.length - (kept - head)).join('')}`;
    if (widthOf(cut) <= width) return cut;
  }
  return '…';
}
