import { andMore, escapeMarkdownTableCell as escapeMarkdown } from '@agentci/lib/text';
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

const MAX_NAMES = 5;

/** The same for a pull request. */
export function renderMarkdown(result: MutationResult): string {
  const groups = groupSurvivors(result.survivors);
  const lines = [
    `## Would the checks of ${escapeMarkdown(result.agent)} notice?`,
    '',
    `${scoreText(result.score)}; ${result.recordings} good recordings, seed ${result.seed}.`,
    '',
    '| layer | noticed |',
    '| --- | --- |',
    ...LAYERS.map((layer) => `| ${LAYER_NAMES[layer]} | ${scoreText(result.layers[layer])} |`),
  ];
  const meantLine = meantText(result);
  if (meantLine !== undefined) lines.push('', `${meantLine}.`);
  if (groups.length > 0) {
    lines.push('', '| query | goes unnoticed | would catch it |', '| --- | --- | --- |');
    for (const group of groups) {
      const { line, note } = adviceText(group);
      const unnoticed = [
        group.what.map(escapeMarkdown).join('; '),
        escapeMarkdown(thoughWritten(group)),
      ];
      const cure = [line === undefined ? '' : code(line), escapeMarkdown(note ?? '')];
      lines.push(
        `| ${escapeMarkdown(andMore(group.queries, MAX_NAMES))} | ${unnoticed.filter(Boolean).join(', ')} | ${cure.filter(Boolean).join(' ')} |`,
      );
    }
  }
  lines.push(...checkList('Checks that never decided anything', result.idle_checks));
  lines.push(...checkList('Checks that were not tried', result.untried_checks));
  for (const remark of remarks(result)) lines.push('', escapeMarkdown(remark));
  return `${lines.join('\n')}\n`;
}

function checkList(title: string, checks: readonly IdleCheck[]): string[] {
  if (checks.length === 0) return [];
  const items = checks.map(({ query, check }) => `- ${escapeMarkdown(query)}: ${code(check)}`);
  return ['', `<details><summary>${title}</summary>`, '', ...items, '', '</details>'];
}

const code = (text: string): string => `<code>${escapeMarkdown(text)}</code>`;
