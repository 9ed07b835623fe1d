// Starting points for `npm run new`. Each compiles, is registered and has a test that passes, so the first change is yours.
const words = (name) => name.split('/').at(-1);
const camel = (name) => words(name).replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const snake = (name) => words(name).replaceAll('-', '_');

/** The layer each group of metrics is checked in. */
const METRIC_LAYERS = {
  trajectory: 'path',
  'multi-agent': 'path',
  operational: 'cost',
  sustainability: 'cost',
};

export const templates = {
  check: {
    example: 'path/max-retries',
    pattern: /^(correctness|path|cost)\/[a-z][a-z0-9-]*$/,
    files: (name) => {
      const [layer] = name.split('/');
      const key = snake(name);
      const severity = layer === 'correctness' ? 'fail' : 'warn';
      return {
        [`packages/checks/src/${name}.ts`]: `import { v } from '@agentci/lib/values';
import { toolCalls } from '@agentci/trace';
import { defineCheck, held, unmeasured, violated } from '../check.ts';

/** Says in one sentence what must hold. */
export const check = defineCheck({
  layer: '${layer}',
  key: '${key}',
  severity: '${severity}',
  order: 900,
  summary: 'at most this many calls ended in an error',
  schema: v.int().min(0),
  evaluate: (max, { trace }) => {
    if (trace.captured.toolCalls !== 'full') return unmeasured('tool calls were not captured', { limit: max });
    const failed = toolCalls(trace).filter((call) => call.status === 'error');
    const message = \`\${failed.length} failed calls, at most \${max}\`;
    const evidence = failed.map((call) => ({ step: call.seq }));
    const verdict = failed.length <= max ? held : violated;
    return verdict(message, { value: failed.length, limit: max, evidence });
  },
});
`,
        [`packages/checks/src/${name}.test.ts`]: `import { expect, test } from 'vitest';
import { simpleTrace, totals } from '@agentci/trace';
import { check } from './${words(name)}.ts';

const contextOf = (form: object) => {
  const trace = simpleTrace({ answer: 'ok', ...form });
  return { trace, totals: totals(trace), siblings: {} };
};

test.each([
  { when: 'no call failed', form: { tool_calls: [{ name: 'a', error: null }] }, outcome: 'held' },
  { when: 'a call failed', form: { tool_calls: [{ name: 'a', error: 'boom' }] }, outcome: 'violated' },
  { when: 'calls were not captured', form: {}, outcome: 'unmeasured' },
])('is $outcome when $when', ({ form, outcome }) => {
  expect(check.evaluate(0, contextOf(form)).outcome).toBe(outcome);
});
`,
        [`docs/checks/${key}.md`]: `# \`${layer}.${key}\`

At most this many calls ended in an error. A violation is \`${severity}\`.

\`\`\`yaml
version: 1
agent: my-agent
queries:
  - query: How do I install it?
    ${layer}:
      ${key}: 0
\`\`\`

**Not measured when** the tool calls were not captured.
`,
      };
    },
  },
  reporter: {
    example: 'teamcity',
    pattern: /^[a-z][a-z0-9-]*$/,
    files: (name) => ({
      [`packages/reporters/src/${name}.ts`]: `import type { Reporter } from './reporter.ts';

export const reporter: Reporter = {
  name: '${name}',
  summary: 'one line per query',
  extensions: ['.${name}'],
  machineReadable: true,
  render: (run) => ({ text: run.results.map((result) => \`\${result.status} \${JSON.stringify(result.id)}\\n\`).join('') }),
};
`,
      [`packages/reporters/src/${name}.test.ts`]: `import { expect, test } from 'vitest';
import { reportContext } from '@agentci/testing/report-context';
import { runOf } from '@agentci/testing/run-of';
import { reporter } from './${name}.ts';

test('names every query and its status', () => {
  const report = reporter.render(runOf([{ id: 'a', status: 'pass' }, { id: 'b', status: 'fail' }]), reportContext());
  expect(report.text).toBe('pass "a"\\nfail "b"\\n');
});
`,
      [`docs/reporters/${name}.md`]: `# \`${name}\`

One line per query.

\`\`\`sh
agentci test --traces traces.jsonl -f ${name}=results.${name}
\`\`\`
`,
    }),
  },
  adapter: {
    example: 'my-format',
    pattern: /^[a-z][a-z0-9-]*$/,
    files: (name) => ({
      [`packages/formats/src/formats/${name}/${name}.ts`]: `import { simpleTrace } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';

/** Reads \`{"${camel(name)}": {"question", "reply", "used": ["tool"]}}\`. */
export const adapter: Adapter = {
  format: '${name}',
  summary: 'recordings of ${name}',
  unit: 'record',
  detect: (sample) => (sample.length > 0 && sample.every((record) => bodyOf(record) !== undefined) ? 1 : 0),
  read: function* (records) {
    for (const { value, file, line } of records) {
      const body = bodyOf(value);
      const place = { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
      if (!body) {
        yield { ok: false, problem: { code: 'TRACE_NOT_${snake(name).toUpperCase()}', message: 'the record has no "${camel(name)}"', ...place } };
        continue;
      }
      const { question, reply, used } = body;
      const trace = simpleTrace({ query: question, answer: reply, tool_calls: used?.map((tool) => ({ name: tool })) }, place);
      yield { ok: true, trace: { ...trace, source: { ...trace.source, format: '${name}' } } };
    }
  },
};

interface Body {
  question?: string;
  reply?: string;
  used?: string[];
}

const bodyOf = (record: unknown): Body | undefined => (record as { ${camel(name)}?: Body } | null)?.${camel(name)};
`,
      [`packages/formats/src/formats/${name}/${name}.test.ts`]: `import { expect, test } from 'vitest';
import { toolNames } from '@agentci/trace';
import { adapter } from './${name}.ts';

test('reads the question, the answer and the tools in order', () => {
  const [item] = [...adapter.read([{ value: { ${camel(name)}: { question: 'q', reply: 'a', used: ['x', 'y'] } } }])];
  expect(item?.ok && toolNames(item.trace)).toEqual(['x', 'y']);
});

test('a record of another kind is a problem, not a crash', () => {
  expect([...adapter.read([{ value: 7 }])]).toMatchObject([{ ok: false }]);
});
`,
      [`docs/adapters/${name}.md`]: `# \`${name}\`

What is read, what is not captured, how to export it.

## What proves capture

What in a recording shows that tool calls were recorded, and what points at parts that are missing.

\`\`\`json
{"${camel(name)}": {"question": "How do I install it?", "reply": "npm install", "used": ["search"]}}
\`\`\`
`,
    }),
  },
  metric: {
    example: 'quality/tone',
    pattern:
      /^(trajectory|quality|operational|privacy|sustainability|multi-agent|multimodal)\/[a-z][a-z0-9-]*$/,
    files: (name) => {
      const [group] = name.split('/');
      const key = snake(name);
      const layer = METRIC_LAYERS[group] ?? 'correctness';
      return {
        [`packages/metrics/src/${name}.ts`]: `import { toolCalls } from '@agentci/trace';
import { defineMetric, measured, notMeasured } from '../metric.ts';

export const metric = defineMetric({
  name: '${key}',
  group: '${group}',
  layer: '${layer}',
  better: 'lower',
  needs: ['tool calls'],
  summary: 'share of tool calls that ended in an error',
  evaluate: ({ trace }) => {
    const calls = trace ? toolCalls(trace) : [];
    if (calls.length === 0) return notMeasured('no tool calls');
    const failed = calls.filter((call) => call.status === 'error').length;
    return measured(failed / calls.length, { failed, calls: calls.length });
  },
});
`,
        [`packages/metrics/src/${name}.test.ts`]: `import { expect, test } from 'vitest';
import { simpleTrace } from '@agentci/trace';
import { metric } from './${words(name)}.ts';

test.each([
  { when: 'nothing was called', calls: [], value: null },
  { when: 'one of two calls failed', calls: [{ name: 'a' }, { name: 'b', error: 'boom' }], value: 0.5 },
])('is $value when $when', ({ calls, value }) => {
  expect(metric.evaluate({ trace: simpleTrace({ answer: 'ok', tool_calls: calls }) })).toMatchObject({ value });
});
`,
        [`docs/metrics/${key}.md`]: `# \`${key}\`

Share of tool calls that ended in an error.

Layer **${layer}** · 0 to 1 · lower is better.

## Formula

failed calls / calls.

## Inputs

tool calls of the trace.

## Not measured when

no tool was called.

## Example

\`\`\`yaml
version: 1
agent: my-agent
queries:
  - query: How do I install it?
    metrics:
      ${key}: 0.1
\`\`\`

## Limits

What a call returned is not looked at.
`,
      };
    },
  },
};
