import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readTraceItems } from '@agentci/formats';
import type { LlmStep, Trace } from '@agentci/trace';
import { finalText, llmCalls, toolCalls, totals } from '@agentci/trace';
import { removalsIn } from './removals.ts';
import { UNKNOWABLE, type Unknowable } from './unknowable.ts';

/** The result of reading a recording. */
export interface Reading {
  readonly traces: readonly Trace[];
  readonly problems: number;
}

export async function readingOf(bytes: Uint8Array): Promise<Reading> {
  const traces: Trace[] = [];
  let problems = 0;
  for await (const item of readTraceItems(bytes)) {
    if (item.ok) traces.push(item.trace);
    else problems++;
  }
  return { traces, problems };
}

export interface Loss {
  readonly what: 'tool calls' | 'model calls' | 'answer';
  readonly says: string;
}

/**
 * Data that a changed recording lost while it claims to be complete. Reported problems and
 * `partial` count as honest. A run that is missing as a whole is not a loss for the others.
 */
export function lossesIn(before: Reading, after: Reading, left: Uint8Array): Loss[] {
  if (after.problems > before.problems || wentAsWhole(before, after)) return [];
  const isPaired = before.traces.length === after.traces.length;
  const pairs = after.traces.map((trace, i) => ({
    trace,
    whole: isPaired ? before.traces[i]! : undefined,
  }));
  const missing = sum(before.traces, countTools) - sum(after.traces, countTools);
  const losses: Loss[] = [];
  const isSilent = ({ trace, whole }: (typeof pairs)[number]): boolean =>
    trace.captured.toolCalls === 'full' &&
    (whole === undefined || countTools(trace) < countTools(whole));
  if (missing > 0 && (isPaired ? pairs.some(isSilent) : pairs.every(isSilent)))
    losses.push({
      what: 'tool calls',
      says: `${sum(after.traces, countTools)} of ${sum(before.traces, countTools)}`,
    });
  if (!isPaired) return losses;
  const text = Buffer.from(left).toString('utf8');
  for (const { trace, whole } of pairs) {
    const [now, then] = [totals(trace).llmCalls, totals(whole!).llmCalls];
    if (
      now.exact &&
      then.exact &&
      now.value < then.value &&
      isPointedAt(lostReplies(whole!, trace), text)
    )
      losses.push({ what: 'model calls', says: `${now.value} of ${then.value}` });
    const [said, meant] = [finalText(trace), finalText(whole!)];
    if (said !== undefined && meant !== undefined && !isPartOf(said, meant))
      losses.push({ what: 'answer', says: said.slice(0, 60) });
  }
  return losses;
}

const countTools = (trace: Trace): number => toolCalls(trace).length;
const sum = (traces: readonly Trace[], count: (trace: Trace) => number): number =>
  traces.reduce((all, trace) => all + count(trace), 0);

/** Fewer runs than before, and the rest unchanged. */
function wentAsWhole(before: Reading, after: Reading): boolean {
  if (after.traces.length >= before.traces.length) return false;
  const known = new Set(before.traces.map(essence));
  return after.traces.every((trace) => known.has(essence(trace)));
}
const essence = (trace: Trace): string =>
  JSON.stringify([
    toolCalls(trace).map(({ name, args }) => [name, args]),
    llmCalls(trace).length,
    finalText(trace),
  ]);

/** Compares replies by their content. */
function lostReplies(whole: Trace, rest: Trace): LlmStep[] {
  const key = ({ responseId, raw, output }: LlmStep): string =>
    JSON.stringify([responseId, raw, output]);
  const left = new Set(llmCalls(rest).map(key));
  return llmCalls(whole).filter((reply) => !left.has(key(reply)));
}

/** Whether the rest mentions a reply by its id, or by that of a requested call. */
const isPointedAt = (replies: readonly LlmStep[], text: string): boolean =>
  replies.some(({ responseId, raw, output }) =>
    [responseId, raw?.spanId, ...(output?.calls ?? []).map(({ id }) => id)].some(
      (id) => id !== undefined && text.includes(JSON.stringify(id)),
    ),
  );

/** Whether a text is another text with pieces removed. */
function isPartOf(part: string, whole: string): boolean {
  let at = 0;
  for (const letter of part) {
    at = whole.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

export interface EvidenceReport {
  readonly tried: number;
  readonly lost: readonly string[];
  /** The entries of the list of unknowable losses that were needed. */
  readonly needed: ReadonlySet<Unknowable>;
}

/**
 * Removes every part of every recording under a folder in turn, or up to N parts per file, and
 * finds unreported losses.
 */
export async function checkRemovals(root: string, maxPerFile: number): Promise<EvidenceReport> {
  const lost: string[] = [];
  const needed = new Set<Unknowable>();
  let tried = 0;
  for (const [format, file] of recordingsIn(root)) {
    const bytes = readFileSync(join(root, format, file));
    const before = await readingOf(bytes);
    for (const removal of removalsIn(bytes, everyNth(maxPerFile))) {
      tried++;
      for (const { what, says } of lossesIn(
        before,
        await readingOf(removal.bytes),
        removal.bytes,
      )) {
        const known = unknowable(format, what, removal.where);
        if (known === undefined)
          lost.push(`${format}/${file} without ${removal.at}: ${what} read as full, ${says}`);
        else needed.add(known);
      }
    }
  }
  return { tried, lost, needed };
}

/** The entry that explains why a loss at or below a path is unknowable. */
export const unknowable = (
  format: string,
  what: Loss['what'],
  where: string,
): Unknowable | undefined =>
  UNKNOWABLE.find(
    (entry) => entry.format === format && entry.what === what && entry.where.test(where),
  );

/** Spread over the whole file, deterministic. */
const everyNth =
  (max: number) =>
  (count: number): ((index: number) => boolean) => {
    const stride = Math.max(1, Math.ceil(count / max));
    return (index) => index % stride === 0;
  };

function recordingsIn(root: string): (readonly [string, string])[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((folder) => statSync(join(root, folder)).isDirectory())
    .sort()
    .flatMap((folder) =>
      readdirSync(join(root, folder))
        .sort()
        .map((file) => [folder, file] as const),
    );
}
