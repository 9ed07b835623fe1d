import { present } from '@agentci/lib/data';
import { escapeXmlText } from '@agentci/lib/text';
import type { ExperimentResult } from '@agentci/results';
import { COLOURS } from '../plots/svg.ts';
import { METRIC_LABELS } from './format.ts';
import { COMPONENTS, HEADLINE, measureBoxes, measureDifferences } from './measure-plots.ts';
import { LIGHT } from './page-style.ts';

const WIDTH = 720;
const GAP = 34;

/**
 * All plots of an experiment as one image for a paper: no scripts, no external files, printable
 * colors.
 */
export function renderFigure(result: ExperimentResult): string {
  const plots = [...HEADLINE, ...COMPONENTS].flatMap((metric) => {
    const boxes = measureBoxes(result, metric);
    const pairs = HEADLINE.includes(metric) ? measureDifferences(result, metric) : '';
    const label = METRIC_LABELS[metric];
    return present([
      boxes === '' ? undefined : { label, plot: boxes },
      pairs === '' ? undefined : { label: `${label}: differences`, plot: pairs },
    ]);
  });
  let y = 10;
  const placed = plots.map(({ label, plot }, i) => {
    const height = Number(/viewBox="0 0 \d+ ([\d.]+)"/.exec(plot)![1]);
    const letter = String.fromCharCode(97 + (i % 26));
    const heading = `<text x="10" y="${y + 16}" class="heading">(${letter}) ${escapeXmlText(label)}</text>`;
    const inside = plot.replace(
      '<svg ',
      `<svg x="0" y="${y + 24}" width="${WIDTH}" height="${height}" `,
    );
    y += height + GAP;
    return heading + inside;
  });
  const names = result.conditions.map(({ condition, n }) => `${condition} (n = ${n})`).join(', ');
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img" aria-labelledby="title desc">
<title id="title">${escapeXmlText(`Experiment: ${result.experiment}`)}</title>
<desc id="desc">${escapeXmlText(`Box plots with quartiles and every trial, means as rings, and differences with 95 % intervals. Conditions: ${names}.`)}</desc>
<style>${STYLE}</style>
<rect width="${WIDTH}" height="${y}" fill="#ffffff"/>
${placed.join('\n').replace(NOT_XML, '\ufffd')}
</svg>
`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the plots are made for HTML, which takes them; XML does not.
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

const colours = Array.from(
  { length: COLOURS },
  (_, i) => `.c${i}{fill:${LIGHT[i]};stroke:${LIGHT[i]}}`,
).join('');
const STYLE = `text{font:12px Helvetica,Arial,sans-serif;fill:#1c2024;stroke:none}.heading{font-size:14px;font-weight:600}.name{font-weight:600}.tick,.axis{fill:#60646c}.grid{stroke:#e3e5e9}.threshold{stroke:#60646c;stroke-dasharray:4 3}${colours}.whisker{fill:none;stroke-width:1.5}.box{fill-opacity:.2;stroke-width:1.5}.point{fill-opacity:.45;stroke:none}.median{stroke:#1c2024;stroke-width:2}.hollow{fill:#fff;stroke-width:2}.range{stroke:#1c2024;stroke-width:2}.pair{fill:#1c2024;stroke:#1c2024;stroke-width:1.5}.pair.open{fill:#fff}`;
