import { escapeMarkdownTableCell as escapeMarkdown } from '../../kit/escape.ts';
import type { MutationResult } from '../../results/mutation-result.ts';
import { LAYERS } from '../../results/run-result.ts';
import { groupSurvivors, LAYER_NAMES, meantText, remarks, scoreText, thoughWritten } from './words.ts';

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
    for (const { query, what, advice, meant } of groups)
      lines.push(
        `| ${escapeMarkdown(query)} | ${[what.map(escapeMarkdown).join('; '), escapeMarkdown(thoughWritten({ advice, meant }))].filter(Boolean).join(', ')} | ${advice.layer}: ${code(advice.yaml)} |`,
      );
  }
  if (result.idle_checks.length > 0) {
    lines.push('', '<details><summary>Checks that never decided anything</summary>', '');
    for (const { query, check } of result.idle_checks) lines.push(`- ${escapeMarkdown(query)}: ${code(check)}`);
    lines.push('', '</details>');
  }
  for (const remark of remarks(result)) lines.push('', escapeMarkdown(remark));
  return `${lines.join('\n')}\n`;
}

const code = (text: string): string => `<code>${escapeMarkdown(text)}</code>`;
