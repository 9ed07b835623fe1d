import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

export interface PlotProps {
  readonly label: string;
  readonly data: uPlot.AlignedData;
  readonly kind: 'bars' | 'points' | 'lines';
  readonly xText: (value: number) => string;
  readonly yText: (value: number) => string;
  /** Pixels a label of the x axis takes. */
  readonly xSpace?: number;
  /** A point was clicked. */
  readonly onPick?: (index: number) => void;
}

const HEIGHT = 180;

/** A chart that keeps the width of its place and the colours of the theme. Its label says in words what it shows. */
export function Plot({ label, data, kind, xText, yText, xSpace = 76, onPick }: PlotProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = ref.current!;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const axis = {
        stroke: css('--dim'),
        grid: { stroke: css('--line'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
      };
      plot = new uPlot(
        {
          width: Math.max(200, place.clientWidth),
          height: HEIGHT,
          padding: [12, 36, 0, 0],
          scales: {
            x: { time: false, range: (_, low, high) => pad(low, high, kind === 'bars' ? data[0].length : 0) },
            y: { range: (_, __, high) => [0, high > 0 ? high * 1.1 : 1] },
          },
          legend: { show: false },
          cursor: { drag: { x: false, y: false }, y: false },
          axes: [
            { ...axis, size: 28, space: xSpace, values: (_, ticks) => ticks.map((tick) => xText(tick)) },
            { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => yText(tick)) },
          ],
          series: [
            {},
            ...data.slice(1).map((): uPlot.Series => {
              const color = css('--accent');
              return {
                stroke: color,
                ...(kind === 'bars'
                  ? { fill: `${color}55`, paths: uPlot.paths.bars!({ size: [0.94, 400] }), points: { show: false } }
                  : kind === 'points'
                    ? { paths: () => null, points: { show: true, size: 5, fill: color } }
                    : { width: 2, spanGaps: true, points: { show: true, size: 5, fill: color } }),
              };
            }),
          ],
        },
        data,
        place,
      );
      if (onPick) {
        plot.over.addEventListener('click', () => {
          const index = plot?.cursor.idx;
          if (typeof index === 'number') onPick(index);
        });
      }
    };
    draw();
    const sized = new ResizeObserver(() => plot?.setSize({ width: Math.max(200, place.clientWidth), height: HEIGHT }));
    sized.observe(place);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    addEventListener('agentci-theme', draw);
    return () => {
      sized.disconnect();
      scheme.removeEventListener('change', draw);
      removeEventListener('agentci-theme', draw);
      plot?.destroy();
    };
  }, [data]);
  return <div class={`plot${onPick ? ' pick' : ''}`} ref={ref} role="img" aria-label={label} />;
}

/** Bars reach half their width beyond the first and last value. */
function pad(low: number, high: number, bars: number): [number, number] {
  const space = high === low ? Math.abs(high) * 0.5 || 1 : (high - low) * (bars > 1 ? 0.55 / (bars - 1) : 0.02);
  return [low - space, high + space];
}
