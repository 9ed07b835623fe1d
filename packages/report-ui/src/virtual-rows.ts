import { useEffect, useRef, useState } from 'preact/hooks';

const OVERSCAN = 12;

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The rows to render: the visible ones and a few around them. */
export function visibleRange(options: {
  top: number;
  height: number;
  rowHeight: number;
  count: number;
}): Range {
  const { top, height, rowHeight, count } = options;
  const from = Math.max(0, Math.floor(-top / rowHeight) - OVERSCAN);
  const to = Math.min(count, Math.ceil((height - top) / rowHeight) + OVERSCAN);
  return { from: Math.min(from, count), to: Math.max(Math.min(from, count), to) };
}

/** The rows of a long list to render at the current scroll position. */
export function useVirtualRows({ count, rowHeight }: { count: number; rowHeight: number }) {
  const ref = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<Range>({ from: 0, to: Math.min(count, 40) });
  useEffect(() => {
    const measure = () => {
      const top = ref.current?.getBoundingClientRect().top ?? 0;
      const next = visibleRange({ top, height: innerHeight, rowHeight, count });
      setRange((old) => (old.from === next.from && old.to === next.to ? old : next));
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [count, rowHeight]);
  return { ref, range: { from: Math.min(range.from, count), to: Math.min(range.to, count) } };
}
