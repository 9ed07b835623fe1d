// No word boundaries, because LangSmith writes a time and an id without a separator.
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const BOUNDARY = /(FormBoundary)[0-9a-z]+/g;
const ISO = /\b(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})(\d{0,6})(Z|\+00:00)?/g;
const COMPACT = /\b(20\d\d)(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})(\d{0,6})Z/g;
const EPOCH_MS = /\b1[7-9]\d{11}\b/g;
const LOOPBACK = /http:\/\/127\.0\.0\.1:\d+/g;
/** A stack contains the SDK's path on this machine and its executed lines. */
const STACK = /(?:\\n|\n)\s+at [^\n"\\]*(?:(?:\\n|\n)\s+at [^\n"\\]*)*/g;

/** The date of all recordings. */
const DAY = Date.UTC(2026, 0, 5, 9, 0, 0);

/**
 * Replaces everything that differs between runs: ids by their order, times by their rank, ports,
 * stacks. The order of times is kept and equal times stay equal, but intervals change.
 */
export function stable<T>(value: T, isOneOf: readonly RegExp[] = []): T {
  return JSON.parse(stableText(JSON.stringify(value), isOneOf)) as T;
}

/** The same for a body kept as text. `isOneOf` matches the SDK's ids other than UUIDs. */
export function stableText(text: string, isOneOf: readonly RegExp[] = []): string {
  const ids = new Map<string, string>();
  const ticks = ranks(text);
  let out = text.replace(STACK, '').replace(LOOPBACK, 'http://model.test').replace(BOUNDARY, '$1');
  out = out.replace(UUID, (id) =>
    named(ids, id.toLowerCase(), (n) => `00000000-0000-4000-8000-${padded(n, 12)}`),
  );
  for (const pattern of isOneOf) {
    const own = new Map<string, string>();
    out = out.replace(pattern, (id) =>
      named(own, id, (n) => `${/^[a-z]+[_-]/i.exec(id)?.[0] ?? 'id_'}${padded(n, 4)}`),
    );
  }
  return withTimes(out, (ms) => ticks.get(ms) ?? ms);
}

const named = (known: Map<string, string>, id: string, name: (n: number) => string): string => {
  const given = known.get(id) ?? name(known.size + 1);
  known.set(id, given);
  return given;
};
const padded = (n: number, digits: number): string => String(n).padStart(digits, '0');

/** Maps each time in a text to its rank, ten milliseconds apart. */
function ranks(text: string): Map<number, number> {
  const seen = new Set<number>();
  withTimes(text, (ms) => {
    seen.add(ms);
    return ms;
  });
  return new Map([...seen].sort((a, b) => a - b).map((ms, i) => [ms, DAY + i * 10]));
}

/**
 * Replaces times in the three formats of the SDKs. Digits below a millisecond are counters and
 * stay.
 */
function withTimes(text: string, replace: (ms: number) => number): string {
  return text
    .replace(COMPACT, (_, y, mo, d, h, mi, s, ms, rest) => {
      const iso = new Date(
        replace(Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}.${ms}Z`)),
      ).toISOString();
      return iso.replace(/[-:.]/g, '').replace('Z', `${rest}Z`);
    })
    .replace(ISO, (_, whole, rest, zone) => {
      const iso = new Date(replace(Date.parse(`${whole}Z`))).toISOString();
      return iso.replace('Z', `${rest}${zone ?? ''}`);
    })
    .replace(EPOCH_MS, (ms) => String(replace(Number(ms))));
}
