import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckStatus } from '@agentci/results';
import { exitCode } from '@agentci/results';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import vectors from '@agentci/testing/vectors/run.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

// Tables from input to expected result for whole runs, through the built program.

interface Vector {
  readonly id: string;
  readonly kind: string;
  readonly input: Record<string, unknown>;
  readonly expected: Record<string, unknown>;
}
const rows = (kind: string) => (vectors as Vector[]).filter((row) => row.kind === kind);
/** JSON is YAML, so a vector's spec is written unchanged. */
const spec = (rest: object) => JSON.stringify({ version: 1, agent: 't', ...rest });
const counted = (stdout: string, start: string) =>
  stdout.split('\n').filter((line) => line.startsWith(start)).length;

describe('run.exit_code', () => {
  test.each(rows('run.exit_code'))('$id', async ({ input, expected }) => {
    const { queries, agent, correctness, query, trace } = input as {
      queries?: string[];
      agent?: Record<string, string>;
      correctness?: object;
      query?: object;
      trace?: object;
      spec?: object;
    };
    const files: Record<string, string | object> = {};
    const args = ['test', '-f', 'json'];
    if (queries && agent) {
      files['agent.mjs'] =
        `const does = ${JSON.stringify(agent)};\nexport default (query) => { if (does[query] === 'throws') throw new Error('boom'); return does[query]; };\n`;
      files['agentci_spec.yaml'] = spec({
        runner: { module: './agent.mjs' },
        queries: queries.map((text) => ({ query: text, correctness })),
      });
    } else if (trace) {
      files['agentci_spec.yaml'] = spec({ queries: [query] });
      files['trace.json'] = trace;
      args.push('--traces', 'trace.json');
    } else files['agentci_spec.yaml'] = spec(input.spec as object);
    const { code, stdout } = await cli(args, { cwd: tempDir(files) });
    expect(code).toBe(expected.exit_code);
    if (expected.results) {
      const { results } = JSON.parse(stdout) as { results: { query: string; status: string }[] };
      expect(Object.fromEntries(results.map((result) => [result.query, result.status]))).toEqual(
        expected.results,
      );
    }
  });
});

describe('report.github', () => {
  test.each(rows('report.github'))('$id', async ({ input, expected }) => {
    const { path_warnings, correctness_failures } = input as {
      path_warnings: number;
      correctness_failures: number;
    };
    const queries = [
      ...Array.from({ length: path_warnings }, (_, i) => ({
        query: `warns ${i}`,
        path: { max_tool_calls: 0 },
      })),
      ...Array.from({ length: correctness_failures }, (_, i) => ({
        query: `fails ${i}`,
        correctness: { exact_match: 'x' },
      })),
    ];
    const traces = queries
      .map(({ query }) => JSON.stringify({ query, answer: 'y', tool_calls: [{ name: 'a' }] }))
      .join('\n');
    const cwd = tempDir({
      'agentci_spec.yaml': spec({ queries }),
      'traces.jsonl': traces,
      'summary.md': '',
    });
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') };
    const { code, stdout } = await cli(['test', '--traces', 'traces.jsonl'], { cwd, env });
    const measured = {
      exit_code: code,
      warning_lines: counted(stdout, '::warning'),
      error_lines: counted(stdout, '::error'),
      overflow_to_step_summary: counted(readFileSync(join(cwd, 'summary.md'), 'utf8'), '| path.'),
    };
    expect(measured).toMatchObject(expected);
  });
});

describe('report.json', () => {
  test.each(rows('report.json'))('$id', async ({ input }) => {
    const cwd = tempDir({
      'agentci_spec.yaml': spec({ queries: [{ query: 'q', correctness: { exact_match: 'x' } }] }),
      'trace.json': { query: 'q', answer: '::error::y' },
    });
    const { stdout } = await cli(['test', '--traces', 'trace.json', '-f', 'json'], {
      cwd,
      env: input.env as Record<string, string>,
    });
    expect(() => JSON.parse(stdout)).not.toThrow();
    expect(counted(stdout, '::')).toBe(0);
  });
});

describe('gate.exit_code', () => {
  test.each(rows('gate.exit_code'))('$id', ({ input, expected }) => {
    const status = input.status as CheckStatus;
    const run = runOf([
      { id: 'q', status, correctness: [checkOf('correctness.exact_match', status)] },
    ]);
    expect({ default: exitCode(run), strict: exitCode(run, { strict: true }) }).toEqual(expected);
  });
});
