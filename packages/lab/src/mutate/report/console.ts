import { andMore, escapeTerminalLine, plural } from '@agentci/lib/text';
import type { IdleCheck, MutationResult } from '@agentci/results';
import { LAYERS } from '@agentci/results';
import {
  adviceText,
  groupSurvivors,
  LAYER_NAMES,
  meantText,
  remarks,
  scoreText,
  thoughWritten,
} from './words.ts';

const MAX_WHAT = 3;
const MAX_IDLE = 20;
const MAX_NAMES = 5;

/** The gaps in the checks, by query, with the line that closes each. */
export function renderConsole(result: MutationResult): string {
  const groups = groupSurvivors(result.survivors);
  const lines: string[] = [];
  let query: string | undefined;
  for (const group of groups) {
    const name = andMore(group.queries, MAX_NAMES);
    if (name !== query) {
      const { file, line, column } = group.location ?? {};
      lines.push('', `${name}${file === undefined ? '' : `  ${file}:${line}:${column}`}`);
      query = name;
    }
    const though = thoughWritten(group);
    const goes = group.what.length === 1 ? 'goes' : 'go';
    lines.push(
      `  ! ${andMore(group.what, MAX_WHAT)} ${goes} unnoticed${though === '' ? '' : ` ${though}`}`,
    );
    const { line, note } = adviceText(group);
    if (line === undefined) lines.push(`      ${note}`);
    else lines.push(`      ${line}`, ...(note === undefined ? [] : [`      (${note})`]));
  }
  lines.push(...checkList(result.idle_checks, 'never decided anything'));
  lines.push(
    ...checkList(result.untried_checks, 'not tried: no change that was made concerns them'),
  );
  lines.push(
    '',
    `${plural(result.recordings, 'recording')} changed one thing at a time: ${scoreText(result.score)}`,
  );
  for (const layer of LAYERS)
    lines.push(`  ${LAYER_NAMES[layer].padEnd(12)} ${scoreText(result.layers[layer])}`);
  const meant = meantText(result);
  if (meant !== undefined) lines.push(`  ${meant}`);
  for (const remark of remarks(result)) lines.push(`note: ${remark}`);
  lines.push(verdict(result));
  return `${lines.map(escapeTerminalLine).join('\n').trimStart()}\n`;
}

function checkList(checks: readonly IdleCheck[], words: string): string[] {
  if (checks.length === 0) return [];
  const lines = checks
    .slice(0, MAX_IDLE)
    .map(({ query, check, location }) =>
      location === undefined
        ? `  ${query}: ${check}`
        : `  ${query}: ${check}  ${location.file}:${location.line}:${location.column}`,
    );
  const more = checks.length > MAX_IDLE ? [`  and ${checks.length - MAX_IDLE} more`] : [];
  return ['', `${plural(checks.length, 'check')} ${words}:`, ...lines, ...more];
}

function verdict(result: MutationResult): string {
  const { score, survivors, for_the_judge, uncovered, not_tried, summary } = result;
  if (score.rate === null) return 'could not tell: there was nothing to break (exit 2)';
  if (summary.undecided !== undefined) return `could not tell: ${summary.undecided} (exit 2)`;
  if (summary.exit_code === 1)
    return `failed: at least ${summary.min_score! * 100} % must be noticed (exit 1)`;
  const isWhole = for_the_judge.length === 0 && uncovered.length === 0 && not_tried === 0;
  return survivors.length === 0 && isWhole
    ? 'ok: every change was noticed (exit 0)'
    : 'ok (exit 0)';
}
