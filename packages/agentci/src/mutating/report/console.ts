import { escapeTerminalLine } from '../../kit/escape.ts';
import { andMore, plural } from '../../kit/words.ts';
import type { MutationResult } from '../../results/mutation-result.ts';
import { LAYERS } from '../../results/run-result.ts';
import { groupSurvivors, LAYER_NAMES, meantText, remarks, scoreText, thoughWritten } from './words.ts';

const MAX_WHAT = 3;
const MAX_IDLE = 20;

/** What the checks would miss, query by query, with the line that would catch it. */
export function renderConsole(result: MutationResult): string {
  const groups = groupSurvivors(result.survivors);
  const lines: string[] = [];
  let query: string | undefined;
  for (const group of groups) {
    if (group.query !== query) {
      const { file, line, column } = group.location ?? {};
      lines.push('', `${group.query}${file === undefined ? '' : `  ${file}:${line}:${column}`}`);
      query = group.query;
    }
    const though = thoughWritten(group);
    const goes = group.what.length === 1 ? 'goes' : 'go';
    lines.push(`  ! ${andMore(group.what, MAX_WHAT)} ${goes} unnoticed${though === '' ? '' : ` ${though}`}`);
    const more = group.further.length === 0 ? '' : `   (and ${group.further.length} more like it)`;
    lines.push(`      ${group.advice.layer}: {${group.advice.yaml}}${more}`);
  }
  const idle = result.idle_checks.map(({ query: id, check, location }) =>
    location === undefined
      ? `${id}: ${check}`
      : `${id}: ${check}  ${location.file}:${location.line}:${location.column}`,
  );
  if (idle.length > 0) {
    lines.push('', `${plural(idle.length, 'check')} never decided anything:`);
    for (const one of idle.slice(0, MAX_IDLE)) lines.push(`  ${one}`);
    if (idle.length > MAX_IDLE) lines.push(`  and ${idle.length - MAX_IDLE} more`);
  }
  lines.push('', `${plural(result.recordings, 'recording')} changed one thing at a time: ${scoreText(result.score)}`);
  for (const layer of LAYERS) lines.push(`  ${LAYER_NAMES[layer].padEnd(12)} ${scoreText(result.layers[layer])}`);
  const meant = meantText(result);
  if (meant !== undefined) lines.push(`  ${meant}`);
  for (const remark of remarks(result)) lines.push(`note: ${remark}`);
  lines.push(verdict(result));
  return `${lines.map(escapeTerminalLine).join('\n').trimStart()}\n`;
}

function verdict({ score, survivors, summary: { exit_code, min_score } }: MutationResult): string {
  if (score.rate === null) return 'could not tell: there was nothing to break (exit 2)';
  if (exit_code === 1) return `failed: at least ${min_score! * 100} % must be noticed (exit 1)`;
  return survivors.length === 0 ? 'ok: every change was noticed (exit 0)' : `ok (exit 0)`;
}
