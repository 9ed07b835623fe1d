import type { PageStep } from '@agentci/results';
import type { OrderedSteps } from './step-groups.ts';

/** A step as a bar: percent of the width, and the row of its lane. */
export interface Bar {
  readonly step: PageStep;
  readonly left: number;
  readonly width: number;
  readonly row: number;
}

export interface Lane {
  readonly name: string;
  readonly bars: readonly Bar[];
  readonly rows: number;
}

export interface LaneChart {
  readonly lanes: readonly Lane[];
  /** Duration of the whole width. Undefined if only the order is known. */
  readonly spanMs: number | undefined;
}

const MAX_ROWS = 6;
const MIN_WIDTH = 0.8;

/** One lane per agent in order of appearance. Concurrent calls are below each other. */
export function layLanes({ steps, basis }: OrderedSteps): LaneChart {
  const spanMs =
    basis === 'times'
      ? Math.max(...steps.map(({ start_ms = 0, duration_ms = 0 }) => start_ms + duration_ms)) ||
        undefined
      : undefined;
  const places = new Map<string, { step: PageStep; left: number; width: number }[]>();
  // An agent's step is its lane and not shown inside it.
  const shown = steps.filter(({ kind }) => kind !== 'agent');
  for (const [i, step] of shown.entries()) {
    const place =
      spanMs === undefined
        ? { left: (100 * i) / shown.length, width: 100 / shown.length }
        : {
            left: Math.min(100 - MIN_WIDTH, (100 * (step.start_ms ?? 0)) / spanMs),
            width: Math.max(MIN_WIDTH, (100 * (step.duration_ms ?? 0)) / spanMs),
          };
    const name = step.agent ?? '';
    places.set(name, [...(places.get(name) ?? []), { step, ...place }]);
  }
  return { spanMs, lanes: [...places].map(([name, bars]) => laneOf(name, bars)) };
}

function laneOf(
  name: string,
  places: readonly { step: PageStep; left: number; width: number }[],
): Lane {
  const ends: number[] = [];
  const bars = places.map((place): Bar => {
    let row = ends.findIndex((end) => end <= place.left + 0.01);
    if (row < 0) row = Math.min(ends.length, MAX_ROWS - 1);
    ends[row] = Math.max(ends[row] ?? 0, place.left + place.width);
    return { ...place, row };
  });
  return { name, bars, rows: Math.max(1, ends.length) };
}
