import type { Fields } from '../../../trace/fields.ts';
import { fields, label, objects } from '../../build/values.ts';

/**
 * The lines of a transcript that belong to what the session ended with: from the last line up along `parentUuid`. Lines
 * off that chain are drafts somebody edited or tried again, with two exceptions: one reply is written in several lines, and
 * the results of calls that ran side by side hang on different ones of them.
 */
export function currentLines(lines: readonly Fields[]): readonly Fields[] {
  const main = lines.filter(({ isSidechain }) => isSidechain !== true);
  if (main.length === 0 || !main.some(parentOf)) return lines;
  const byUuid = new Map<string, Fields>();
  for (const line of main) {
    const uuid = label(line.uuid);
    if (uuid !== undefined) byUuid.set(uuid, line);
  }
  const kept = new Set<Fields>();
  const leaf = main.findLast((line) => (line.type === 'user' || line.type === 'assistant') && label(line.uuid));
  for (let line = leaf; line !== undefined && !kept.has(line); line = byUuid.get(parentOf(line) ?? '')) kept.add(line);
  keepReplies(main, kept);
  keepResults(main, kept);
  return lines.filter((line) => line.isSidechain === true || kept.has(line));
}

/** After a compaction the chain goes on under another name. */
const parentOf = (line: Fields): string | undefined => label(line.parentUuid) ?? label(line.logicalParentUuid);

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
