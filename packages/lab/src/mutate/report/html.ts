import { andMore, escapeHtml } from '@agentci/lib/text';
import type { IdleCheck, MutationResult, MutationScore } from '@agentci/results';
import { LAYERS } from '@agentci/results';
import { PAGE_STYLE } from '../../experiment/report/page-style.ts';
import {
  adviceText,
  groupSurvivors,
  LAYER_NAMES,
  meantText,
  remarks,
  type SurvivorGroup,
  scoreText,
  thoughWritten,
} from './words.ts';

/** More of one kind add no information. */
const MAX_WHAT = 6;

const STYLE = `${PAGE_STYLE}
.bar{position:relative;height:.6rem;min-width:8rem;border-radius:4px;background:var(--line);overflow:hidden}
.bar i{position:absolute;inset:0 auto 0 0;background:var(--c2)}
code{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
small{color:var(--soft)}
th,td{text-align:left;white-space:normal;vertical-align:top}
table.words td:nth-child(1){width:22%;overflow-wrap:anywhere}
table.words td:nth-child(2){width:38%}
table.numbers td:last-child:not(:nth-child(2)){width:30%;vertical-align:middle}
table.numbers .bar{margin-top:.35rem}
@media (max-width:40rem){
body{padding:1rem .75rem 2rem}
h1{font-size:1.5rem}
thead{display:none}
table,tbody,tr{display:block}
tr{padding:.5rem .7rem;border-bottom:1px solid var(--line)}
tbody tr:last-child{border-bottom:0}
td,table.words td:nth-child(n),table.numbers td:last-child:not(:nth-child(2)){display:block;width:auto;padding:.1rem 0;border:0}
td:first-child{font-weight:600}
td:empty{display:none}
}
`;

/** The gaps in the checks as one page without scripts or external files. */
export function renderHtml(result: MutationResult): string {
  const name = escapeHtml(result.agent);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Mutants: ${name}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<p class="kind">AgentCI mutants</p>
<h1>Would the checks of ${name} notice?</h1>
<p class="facts">${result.recordings} good recordings, changed one thing at a time · seed ${result.seed} · ${escapeHtml([scoreText(result.score), meantText(result)].filter(Boolean).join(' · '))}</p>
</header>
<main>
${notes(result)}
<section><h2>By layer</h2>
${table(
  ['Layer', 'Noticed', ''],
  LAYERS.map((layer) => [
    LAYER_NAMES[layer],
    scoreText(result.layers[layer]),
    bar(result.layers[layer]),
  ]),
)}
</section>
${survivors(result)}
<section><h2>By change</h2>
${table(
  ['Change', 'What it does', 'Noticed', ''],
  result.operators
    .filter(({ mutants }) => mutants > 0)
    .map(({ name: operator, summary, noticed, mutants }) => [
      code(operator),
      escapeHtml(summary),
      `${noticed} of ${mutants}`,
      bar({ noticed, mutants, rate: noticed / mutants, ci95: null }),
    ]),
)}
</section>
${checkList('Checks that never decided anything', result.idle_checks)}
${checkList('Checks that were not tried', result.untried_checks)}
</main>
<footer>${escapeHtml(result.spec.file)} · ${escapeHtml(result.spec.hash.slice(0, 19))}</footer>
</body>
</html>
`;
}

function notes(result: MutationResult): string {
  const lines = remarks(result);
  if (lines.length === 0) return '';
  return `<section class="notes"><h2>Read this first</h2><ul>${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul></section>`;
}

function survivors(result: MutationResult): string {
  const groups = groupSurvivors(result.survivors);
  if (groups.length === 0) {
    const words =
      result.for_the_judge.length === 0
        ? 'Every change was noticed.'
        : 'Every change that was judged was noticed.';
    return `<section><h2>Unnoticed</h2><p>${words}</p></section>`;
  }
  return `<section><h2>Unnoticed</h2>
${table(
  ['Query', 'Goes unnoticed', 'Would catch it'],
  groups.map((group, i) => [
    // Once for all its rows.
    nameOf(group) === (i === 0 ? undefined : nameOf(groups[i - 1]!))
      ? ''
      : escapeHtml(nameOf(group)),
    unnoticed(group),
    cure(group),
  ]),
  'words',
)}
</section>`;
}

const nameOf = ({ queries }: SurvivorGroup): string => andMore(queries, MAX_WHAT);

function cure(group: SurvivorGroup): string {
  const { line, note } = adviceText(group);
  const small = note === undefined ? '' : `<small>${escapeHtml(note)}</small>`;
  return line === undefined ? small : `${code(line)}${small === '' ? '' : `<br>${small}`}`;
}

function unnoticed(group: SurvivorGroup): string {
  const shown = group.what.slice(0, MAX_WHAT).map(withCode).join('<br>');
  const though = group.meantBy ? `<br><small>${withCode(thoughWritten(group))}</small>` : '';
  return `${shown}${moreLines(group.what.length - MAX_WHAT)}${though}`;
}

const moreLines = (count: number): string =>
  count <= 0 ? '' : `<br><small>and ${count} more</small>`;

function checkList(title: string, checks: readonly IdleCheck[]): string {
  if (checks.length === 0) return '';
  return `<section><h2>${title}</h2>
${table(
  ['Query', 'Check', 'Where'],
  checks.map(({ query, check, location }) => [
    escapeHtml(query),
    code(check),
    location === undefined
      ? ''
      : escapeHtml(`${location.file}:${location.line}:${location.column}`),
  ]),
)}
</section>`;
}

/** Cells are already HTML. */
function table(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  kind = 'numbers',
): string {
  const head = columns.map((column) => `<th>${column}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<div class="scroll"><table class="${kind}"><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

const bar = ({ rate }: MutationScore): string =>
  rate === null ? '' : `<div class="bar"><i style="width:${Math.round(rate * 100)}%"></i></div>`;
const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;
/** Formats names in backticks as code. */
const withCode = (text: string): string =>
  escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
