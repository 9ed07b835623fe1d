import type { ExperimentResult, Trial } from '@agentci/results';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareConditions } from '../compare-conditions.ts';
import { scaleOf } from '../plots/scale.ts';
import { weightSensitivity } from '../weight-sensitivity.ts';
import { renderConsole } from './console.ts';
import { renderCsv, renderTrialsCsv } from './csv.ts';
import { renderFigure } from './figure.ts';
import { renderHtml } from './html.ts';
import { renderLatex } from './latex.ts';
import { renderMarkdown } from './markdown.ts';

function resultOf(
  names: readonly string[],
  rest: Partial<ExperimentResult> = {},
): ExperimentResult {
  const trials = names.flatMap((condition, c) =>
    Array.from({ length: 5 }, (_, i): Trial => {
      const part = ((i + c) % 5) / 5;
      return {
        condition,
        trial: i,
        validity: 1,
        specificity: part,
        correctness: part,
        dq: 0.4 + 0.6 * part,
        t2u_s: i + c,
      };
    }),
  );
  return {
    schema: 'agentci.experiment/1',
    experiment: 'demo',
    file: 'experiment.yaml',
    hash: 'sha256:0',
    seed: 1,
    profile: 'spec',
    weights: { validity: 0.4, specificity: 0.3, correctness: 0.3 },
    sources: names.map((condition) => ({ condition, kind: 'data' })),
    ...compareConditions(trials),
    sensitivity: weightSensitivity(trials, { step: 0.25 }),
    trials,
    excluded: [],
    ...rest,
  };
}

const HOSTILE = '</title><script>alert(1)</script>"\'\u001b[31m|`=1+1\n::error::x';

test('tables that scroll can be reached by keyboard, and have a name', () => {
  const boxes = renderHtml(resultOf(['a', 'b'])).match(/<div class="scroll"[^>]*>/g)!;
  expect(boxes.length).toBeGreaterThan(1);
  for (const box of boxes) expect(box).toMatch(/ tabindex="0" role="group" aria-label="[^"]+"/);
});

describe('hostile names', () => {
  const result = resultOf([HOSTILE, '__proto__', 'constructor'], {
    experiment: HOSTILE,
    notices: [HOSTILE],
  });

  test('cannot leave the text of the page', () => {
    const page = renderHtml(result);
    expect(page).not.toContain('<script');
    expect(page.match(/<\/title>/g)!.length).toBe(page.match(/<title>/g)!.length);
    expect(page).toContain("default-src 'none'");
  });

  test('cannot move the cursor, start a formula or break a table', () => {
    for (const text of [
      renderConsole(result),
      renderMarkdown(result),
      renderCsv(result),
      renderTrialsCsv(result),
    ])
      expect(text).not.toContain('\u001b');
    expect(renderConsole(result)).not.toMatch(/^::error/m);
    expect(renderCsv(resultOf(['=cmd()', 'b']))).not.toMatch(/(^|,)=/m);
    for (const table of renderMarkdown(result)
      .split('\n\n')
      .filter((block) => block.startsWith('| ')))
      expect(new Set(table.split('\n').map((row) => row.split('|').length)).size).toBe(1);
  });
});

test('every report names every condition and is the same twice', () => {
  const result = resultOf(['alpha', 'beta', 'gamma']);
  for (const render of [
    renderConsole,
    renderMarkdown,
    renderCsv,
    renderTrialsCsv,
    renderHtml,
    renderFigure,
    renderLatex,
  ]) {
    const text = render(result);
    expect(render(result)).toBe(text);
    for (const name of ['alpha', 'beta', 'gamma']) expect(text).toContain(name);
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  }
});

test('reports say which component drives the difference of each pair', () => {
  const result = resultOf(['alpha', 'beta']);
  for (const render of [renderConsole, renderMarkdown, renderHtml]) {
    const text = render(result);
    expect(text).toContain('What drives the difference in decision quality');
    expect(text).toContain('alpha → beta');
  }
});

test('an experiment without any number still renders', () => {
  const empty = resultOf([], { sensitivity: null });
  for (const render of [
    renderConsole,
    renderMarkdown,
    renderCsv,
    renderTrialsCsv,
    renderHtml,
    renderFigure,
    renderLatex,
  ])
    expect(render(empty).length).toBeGreaterThan(0);
});

test('a scale keeps every value on it, and its ticks in order', () => {
  const value = fc.double({ min: -1e9, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), (values) => {
      const scale = scaleOf(values, { from: 10, to: 110 });
      expect(scale.ticks.length).toBeGreaterThan(1);
      expect(scale.ticks.length).toBeLessThan(20);
      for (const each of values) {
        expect(scale.at(each)).toBeGreaterThan(9.9);
        expect(scale.at(each)).toBeLessThan(110.1);
      }
    }),
  );
});

describe('for a paper', () => {
  test('the figure is one picture with title and description, without script or outside files', () => {
    const text = renderFigure(resultOf([HOSTILE, 'b'], { experiment: HOSTILE }));
    expect(text).toMatch(/<title id="title">Experiment: [\s\S]*?<\/title>\n<desc id="desc">/);
    expect(text).not.toMatch(/<script|on\w+="|href=|url\(/);
    expect(text).not.toContain('\u001b');
    expect(text.match(/<svg /g)!.length).toBe(text.match(/<\/svg>/g)!.length);
  });

  test('shares are drawn from 0 to 1 in every plot, and the bands of decision quality are lines', () => {
    const text = renderFigure(resultOf(['a', 'b']));
    for (const name of ['mediocre', 'actionable', 'excellent'])
      expect(text).toContain(`>${name}</text>`);
    expect(text.match(/<circle [^>]*class="point c0"/g)).toHaveLength(5 * 5);
    expect(text).toContain('median 0.640, quartiles 0.520 to 0.760, mean 0.640, n = 5');
    expect(text).toContain('Differences of decision quality between conditions');
  });

  test('hostile names are text in LaTeX: every special character is escaped, every row has its cells', () => {
    const name = '\\input{x} 50% & _a_ #1 $y$ ~^ {';
    const text = renderLatex(resultOf([name, 'b'], { experiment: 'a\n\\end{document}' }));
    expect(text).toContain(
      '\\textbackslash{}input\\{x\\} 50\\% \\& \\_a\\_ \\#1 \\$y\\$ \\textasciitilde{}\\textasciicircum{} \\{',
    );
    expect(text).not.toMatch(/\\input|\\end\{document|(^|[^\\])%(?! Experiment)/m);
    const [first] = text.split('\\end{tabular}');
    const rows = first!.split('\n').filter((line) => line.endsWith('\\\\'));
    for (const row of rows) expect(row.replaceAll('\\&', '').split('&')).toHaveLength(9);
  });
});
