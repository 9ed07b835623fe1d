import type { Fields } from '@agentci/trace';
import { fields, label, objects } from '../../build/values.ts';

/** How the lines of a transcript hang together by `parentUuid`. */
export interface Branches {
  /** Lines outside of the final branch, after an edit or retry. Their calls were executed. */
  readonly left: ReadonlySet<Fields>;
  /** Parents that are named and not in the file. */
  readonly absent: readonly string[];
}

/**
 * The branches of a session: from the last line up along `parentUuid`. Everything else was
 * abandoned, with two exceptions: one reply spans several lines, and results of concurrent calls
 * are attached to different ones. `known` has the lines of the whole file, because a session can
 * continue another.
 */
export function branchesOf(lines: readonly Fields[], known: ReadonlySet<string>): Branches {
  const byUuid = new Map<string, Fields>();
  for (const line of lines) {
    const uuid = label(line.uuid);
    if (uuid !== undefined) byUuid.set(uuid, line);
  }
  const parents = lines.flatMap((line) => label(line.parentUuid) ?? []);
  const absent = [...new Set(parents.filter((uuid) => !known.has(uuid)))];
  const main = lines.filter(({ isSidechain }) => isSidechain !== true);
  const leaf = main.findLast((line) => isSaid(line) && label(line.uuid));
  // A chain that breaks off, or that no line has, tells nothing about branches.
  if (absent.length > 0 || leaf === undefined || !main.some(parentOf))
    return { left: new Set(), absent };
  const kept = new Set<Fields>();
  for (let line: Fields | undefined = leaf; line !== undefined && !kept.has(line); ) {
    kept.add(line);
    line = byUuid.get(parentOf(line) ?? '');
  }
  keepReplies(main, kept);
  keepResults(main, kept);
  return { left: new Set(main.filter((line) => isSaid(line) && !kept.has(line))), absent };
}

const isSaid = ({ type }: Fields): boolean => type === 'user' || type === 'assistant';

function keepReplies(lines: readonly Fields[], kept: Set<Fields>): void {
  const idOf = (line: Fields): string | undefined =>
    line.type === 'assistant' ? label(fields(line.message).id) : undefined;
  const ids = new Set([...kept].flatMap((line) => idOf(line) ?? []));
  for (const line of lines) {
    const id = idOf(line);
    if (id !== undefined && ids.has(id)) kept.add(line);
  }
}

function keepResults(lines: readonly Fields[], kept: Set<Fields>): void {
  const blocksOf = (line: Fields): readonly Fields[] => objects(fields(line.message).content);
  const calls = new Set<string>();
  for (const line of kept)
    for (const { type, id } of blocksOf(line)) if (type === 'tool_use') calls.add(label(id) ?? '');
  for (const line of lines) {
    const isResult = blocksOf(line).some(
      ({ type, tool_use_id }) => type === 'tool_result' && calls.has(label(tool_use_id) ?? ' '),
    );
    if (isResult) kept.add(line);
  }
}

/** After a compaction the chain continues under another name. */
const parentOf = (line: Fields): string | undefined =>
  label(line.parentUuid) ?? label(line.logicalParentUuid);
