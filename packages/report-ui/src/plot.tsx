import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

export interface Series {
  readonly name: string;
  /** A CSS variable of the theme, e.g. `--solid-pass`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

export interface PlotProps {
  /** Description of the chart for screen readers. */
  readonly label: string;
  readonly x: readonly number[];
  readonly series: readonly Series[];
  /** An interval around a single series. */
  readonly band?: {
    readonly low: readonly (number | null)[];
    readonly high: readonly (number | null)[];
  };
  readonly kind: 'bars' | 'points' | 'lines';
  readonly xText: (value: number) => string;
  readonly yText: (value: number) => string;
  /** Axis titles with the unit. */
  readonly xLabel: string;
  readonly yLabel: string;
  /** Width of an x axis label in pixels. */
  readonly xSpace?: number;
  /** Upper bound of the values. */
  readonly yMax?: number;
  /** Called when a point is clicked. */
  readonly onPick?: (index: number) => void;
}

const HEIGHT = 200;

/** A responsive chart in the theme's colors. Its label describes it in words. */
export function Plot(props: PlotProps) {
  const { label, x, series, band, onPick } = props;
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = ref.current!;
    let plot: uPlot | undefined;
    const data = [
      x,
      ...series.map(({ values }) => values),
      ...(band ? [band.low, band.high] : []),
    ] as uPlot.AlignedData;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(
        { ...optionsOf(props), width: Math.max(200, place.clientWidth), height: HEIGHT },
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
    const sized = new ResizeObserver(() =>
      plot?.setSize({ width: Math.max(200, place.clientWidth), height: HEIGHT }),
    );
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
  }, [x, series, band]);
  return <div class={`plot${onPick ? ' pick' : ''}`} ref={ref} role="img" aria-label={label} />;
}

const css = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function optionsOf(props: PlotProps): Omit<uPlot.Options, 'width' | 'height'> {
  const { x, series, band, kind, xText, yText, xLabel, yLabel, xSpace = 76, yMax } = props;
  const axis = {
    stroke: css('--dim'),
    grid: { stroke: css('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
    labelFont: '12px system-ui',
    labelSize: 18,
  };
  const unseen: uPlot.Series = { width: 0, points: { show: false } };
  return {
    padding: [12, 24, 0, 0],
    scales: {
      x: { time: false, range: (_, low, high) => pad(low, high, kind === 'bars' ? x.length : 0) },
      y: { range: (_, __, high) => [0, yMax ?? (high > 0 ? high * 1.1 : 1)] },
    },
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    axes: [
      {
        ...axis,
        label: xLabel,
        size: 26,
        space: xSpace,
        values: (_, ticks) => ticks.map((tick) => xText(tick)),
      },
      {
        ...axis,
        label: yLabel,
        size: sizeOf,
        values: (_, ticks) => ticks.map((tick) => yText(tick)),
      },
    ],
    series: [
      {},
      ...series.map(({ color }) => lookOf(kind, css(color), x.length)),
      ...(band ? [unseen, unseen] : []),
    ],
    ...(band
      ? { bands: [{ series: [3, 2] as [number, number], fill: `${css(series[0]!.color)}2e` }] }
      : {}),
  };
}

/** Width of the longest number. */
const sizeOf = (_: uPlot, texts: string[] | null): number =>
  Math.max(40, ...(texts ?? []).map((text) => 14 + 7 * (text ?? '').length));

/** A lone bar has one value, so it must not span the whole width. */
const ONE_BAR_PX = 24;

function lookOf(kind: PlotProps['kind'], color: string, bars: number): uPlot.Series {
  const points = { show: true, size: 5, fill: color };
  if (kind === 'points') return { stroke: color, paths: () => null, points };
  if (kind !== 'bars') return { stroke: color, width: 2, spanGaps: true, points };
  const paths = uPlot.paths.bars!({ size: [0.94, bars > 1 ? 400 : ONE_BAR_PX] });
  return { stroke: color, fill: color, paths, points: { show: false } };
}

/** Bars extend half their width beyond the first and last value. */
function pad(low: number, high: number, bars: number): [number, number] {
  const space =
    high === low ? Math.abs(high) * 0.5 || 1 : (high - low) * (bars > 1 ? 0.55 / (bars - 1) : 0.02);
  return [low - space, high + space];
}
