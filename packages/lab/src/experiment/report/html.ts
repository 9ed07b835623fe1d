import { present } from '@agentci/lib/data';
import { escapeHtml } from '@agentci/lib/text';
import type { ExperimentResult, TrialMetric } from '@agentci/results';
import { distributionPlot } from '../plots/distribution-plot.ts';
import { intervalPlot } from '../plots/interval-plot.ts';
import { sensitivityPlot } from '../plots/sensitivity-plot.ts';
import { colourOf } from '../plots/svg.ts';
import { formatValue, METRIC_LABELS } from './format.ts';
import {
  COMPONENTS,
  HEADLINE,
  measureBoxes,
  measureDifferences,
  samplesOf,
} from './measure-plots.ts';
import { PAGE_STYLE } from './page-style.ts';
import { type Table, tablesOf } from './tables.ts';

const SOURCES: Readonly<Record<ExperimentResult['sources'][number]['kind'], string>> = {
  runner: 'agent run live',
  traces: 'recorded traces',
  data: 'recorded trials',
  simulate: 'simulated',
};

/**
 * An experiment as one page without scripts or external files: plots, tables, notes. Supports light
 * and dark mode.
 */
export function renderHtml(result: ExperimentResult): string {
  const name = escapeHtml(result.experiment);
  const { validity, specificity, correctness } = result.weights;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Experiment: ${name}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<p class="kind">AgentCI experiment</p>
<h1>${name}</h1>
<p class="facts">${result.trials.length} trials · seed ${result.seed} · profile ${escapeHtml(result.profile)} · weights ${validity} / ${specificity} / ${correctness}</p>
${legend(result)}
</header>
<main>
${notes(result)}
${HEADLINE.map((metric) => metricSection(result, metric)).join('')}
${componentSection(result)}
${weightSection(result)}
<section><h2>All numbers</h2>
${tablesOf(result, 'full').map(tableHtml).join('')}
</section>
</main>
<footer>${escapeHtml(result.file)} · ${escapeHtml(result.hash.slice(0, 19))}</footer>
</body>
</html>
`;
}

function legend({ sources, conditions }: ExperimentResult): string {
  const items = conditions.map(({ condition, n, failed }, i) => {
    const source = sources.find((each) => each.condition === condition);
    const words = [
      source?.description,
      source === undefined ? undefined : SOURCES[source.kind],
      `n = ${n}`,
      failed > 0 ? `${failed} failed` : undefined,
    ].filter((word) => word !== undefined);
    return `<li><span class="swatch ${colourOf(i)}"></span><b>${escapeHtml(condition)}</b> <span>${escapeHtml(words.join(' · '))}</span></li>`;
  });
  return `<ul class="legend">${items.join('')}</ul>`;
}

function notes({ notices, excluded, interrupted }: ExperimentResult): string {
  const lines = present([
    interrupted ? 'The experiment was interrupted: trials are missing.' : undefined,
    ...excluded.map(({ condition, trial }) => `Excluded: ${condition}, trial ${trial}.`),
    ...notices,
  ]);
  if (lines.length === 0) return '';
  return `<section class="notes"><h2>Read this first</h2><ul>${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul></section>`;
}

function metricSection(result: ExperimentResult, metric: TrialMetric): string {
  const label = METRIC_LABELS[metric];
  const present = result.conditions.flatMap(({ condition, metrics }, index) => {
    const summary = metrics[metric];
    return summary === undefined ? [] : [{ name: condition, index, summary }];
  });
  if (present.length === 0) return '';
  const heading = `${label[0]!.toUpperCase()}${label.slice(1)}`;
  return `<section><h2>${heading}</h2>
<figure><figcaption>Every trial with quartiles; the ring is the mean, whiskers end within 1.5 times the distance of the quartiles</figcaption>${measureBoxes(result, metric)}</figure>
<figure><figcaption>Every trial, counted; the line is the mean</figcaption>${distributionPlot(samplesOf(result, metric), label)}</figure>
<figure><figcaption>Mean and 95 % interval</figcaption>${intervalPlot(present, { label, format: (value) => formatValue(metric, value) })}</figure>
${figureOf('Differences between conditions with 95 % intervals; a full dot leaves out 0', measureDifferences(result, metric))}</section>
`;
}

const figureOf = (caption: string, plot: string): string =>
  plot === '' ? '' : `<figure><figcaption>${caption}</figcaption>${plot}</figure>\n`;

/** The components of decision quality, all on the scale from 0 to 1. */
function componentSection(result: ExperimentResult): string {
  const plots = COMPONENTS.map((metric) =>
    figureOf(METRIC_LABELS[metric], measureBoxes(result, metric)),
  ).join('');
  return plots === '' ? '' : `<section><h2>Parts of decision quality</h2>\n${plots}</section>\n`;
}

function weightSection({ sensitivity, conditions }: ExperimentResult): string {
  if (sensitivity === null) return '';
  const names = conditions.map(({ condition }) => condition);
  const winners = Object.entries(sensitivity.wins).filter(([, share]) => share > 0);
  const keys = winners.map(
    ([name]) =>
      `<li><span class="swatch ${colourOf(names.indexOf(name))}"></span>${escapeHtml(name)} is best</li>`,
  );
  const hasTies = sensitivity.points.some(({ ranking: [best] }) => (best?.length ?? 0) > 1);
  return `<section><h2>Would other weights change the order?</h2>
<figure><figcaption>Each dot is a mix of weights, colored by the best condition. The ring marks the weights used. An outline marks another order of the conditions.</figcaption>
${sensitivityPlot(sensitivity, names)}
<ul class="legend row">${keys.join('')}${hasTies ? '<li><span class="swatch tie"></span>tie</li>' : ''}</ul></figure>
</section>
`;
}

function tableHtml({ title, columns, rows, notes: below }: Table): string {
  const row = (cells: readonly string[], tag: 'th' | 'td'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
  // Scroll containers must be focusable by keyboard.
  return `<h3>${escapeHtml(title)}</h3><div class="scroll" tabindex="0" role="group" aria-label="${escapeHtml(title)}"><table><thead>${row(columns, 'th')}</thead><tbody>${rows
    .map((cells) => row(cells, 'td'))
    .join(
      '',
    )}</tbody></table></div>${below.map((note) => `<p class="note">${escapeHtml(note)}</p>`).join('')}`;
}
