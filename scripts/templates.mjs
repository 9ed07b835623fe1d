// Templates for `npm run new`. Each compiles, is registered and has a passing test.
const words = (name) => name.split('/').at(-1);
const camel = (name) => words(name).replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const snake = (name) => words(name).replaceAll('-', '_');

/** The layer of each group of metrics. */
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
import { capturedCalls } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { callEvidence, callIndices, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, unmeasured } from '../check.ts';
import { upTo } from '../wants.ts';

const MAX_CHARACTERS = 1000;

export const check = defineCheck({
  layer: '${layer}',
  key: '${key}',
  severity: '${severity}',
  order: 900,
  summary: 'At most this many calls may have very long arguments.',
  wants: upTo('call with very long arguments', 'calls with very long arguments'),
  failure: { why: 'Too many calls have very long arguments', help: 'look at the arguments in the report' },
  example: 0,
  schema: v.int().min(0),
  evaluate: (max, { trace }) => {
    const what = 'calls with very long arguments';
    const recorded = capturedCalls(trace);
    if (recorded === undefined) return unmeasured(\`\${what}: \${NOT_CAPTURED}; limit \${max}\`, { limit: max });
    const { calls, isPartial } = recorded;
    const long = callIndices(calls, ({ args }) => (JSON.stringify(args) ?? '').length > MAX_CHARACTERS);
    return atMost({
      quantity: isPartial
        ? { exact: false, atLeast: long.length, why: 'not all tool calls were captured' }
        : { exact: true, value: long.length },
      max,
      what,
      rest: { evidence: callEvidence(calls, long) },
    });
  },
});
`,
        [`packages/checks/src/${name}.test.ts`]: `import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './${words(name)}.ts';

const short = { name: 'a', args: { q: 'x' } };
const long = { name: 'a', args: { q: 'x'.repeat(2000) } };
const calls = (...tool_calls: unknown[]) => ({ answer: 'ok', tool_calls });

describeCheck(check, {
  sample: { params: 0, keeps: calls(short), breaks: calls(short, long) },
  verdicts: [
    { when: 'as many as allowed', block: { ${key}: 1 }, run: calls(long), status: 'pass' },
    { when: 'no calls', block: { ${key}: 0 }, run: calls(), status: 'pass' },
  ],
  inPart: [
    { block: { ${key}: 0 }, run: calls(short), status: '${layer === 'correctness' ? 'error' : 'skip: not_measured'}' },
    { block: { ${key}: 0 }, run: calls(long), status: '${severity}' },
  ],
});
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
    }),
  },
  format: {
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
        yield { ok: false, problem: { code: 'TRACE_NOT_FORMAT', message: 'the record has no "${camel(name)}"', ...place } };
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
      [`packages/testing/recordings/${name}/sample.json`]: `{"${camel(name)}": {"question": "How do I install it?", "reply": "npm install", "used": ["search"]}}
`,
      [`packages/agentci/test/conformance/own/${name}.json`]: `${JSON.stringify(
        {
          'sample.json': {
            format: name,
            traces: [
              {
                query: 'How do I install it?',
                tools: ['search(-) ?'],
                results: [null],
                handoffs: [],
                agents: [],
                tokens: { input: null, output: null, total: null },
                llm_calls: null,
                answer: 'npm install',
                status: 'ok',
              },
            ],
            problems: [],
          },
        },
        null,
        2,
      )}\n`,
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
    example: 'quality/politeness',
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
      };
    },
  },
  rule: {
    example: 'max_same_tool',
    pattern: /^[a-z][a-z0-9_]*$/,
    files: (name) => ({
      [`packages/policy/src/rules/${name.replaceAll('_', '-')}.ts`]: `import { callNumbers, defineRule } from './rule.ts';

export const rule = defineRule({
  type: '${name}',
  summary: 'The tool must be called before any other.',
  fields: { tool: { kind: 'selector', required: true, wanted: true } },
  subjects: ['tool'],
  operands: ({ tool }) => tool.label,
  evaluate: ({ tool }, { table }) => {
    const expected = \`\${tool.label} to be the first call\`;
    if (table.calls.length === 0)
      return { outcome: 'not_exercised', spanned: [], expected, actual: 'nothing was called' };
    const isFirst = table.indices(tool)[0] === 0;
    const actual = \`\${table.calls[0]!.name} is \${callNumbers([0])}\`;
    return { outcome: isFirst ? 'held' : 'violated', spanned: [0], expected, actual };
  },
});
`,
      [`packages/policy/src/rules/${name.replaceAll('_', '-')}.test.ts`]: `import { expect, test } from 'vitest';
import { evaluateRules } from '../evaluate-rules.ts';

test.each([
  { when: 'it is the first', calls: ['a', 'b'], outcome: 'held' },
  { when: 'another is the first', calls: ['b', 'a'], outcome: 'violated' },
  { when: 'nothing was called', calls: [], outcome: 'not_exercised' },
])('is $outcome when $when', ({ calls, outcome }) => {
  const { rules } = evaluateRules({ calls, rules: [{ type: '${name}', tool: 'a' }], complete: true });
  expect(rules[0]?.outcome).toBe(outcome);
});
`,
      [`docs/policies/${name}.md`]: `# ${name}

\`${name}\`: the tool must be called before any other.

\`\`\`yaml
# policy
sequences:
  - {type: ${name}, tool: verify_user}
\`\`\`

- **Violated when**: another tool is called first.
- **Not exercised when**: no tool was called.
- **Id**: \`${name}:verify_user\`, unless \`id\` is written.
`,
    }),
  },
  command: {
    example: 'agents',
    pattern: /^[a-z][a-z0-9-]*$/,
    files: (name) => ({
      [`packages/agentci/src/cli/commands/${name}.ts`]: `import { escapeTerminalLine } from '@agentci/lib/text';
import { loadSpec } from '@agentci/spec';
import type { CliCommand } from '../cli-command.ts';
import { DEFAULT_SPEC, specPath } from '../../stored-runs/spec-folders.ts';

export const command: CliCommand = {
  name: '${name}',
  summary: 'print the agent of a spec',
  configure: (parser) => {
    parser.option('-c, --config <file>', 'the spec (default: agentci_spec.yaml)').addHelpText(
      'after',
      \`
Example:
  agentci ${name}\`,
    );
  },
  run: async ({ options, io }) => {
    const { suite } = await loadSpec(specPath((options.config as string | undefined) ?? DEFAULT_SPEC, io.cwd));
    io.stdout.write(\`\${escapeTerminalLine(suite.agent)}\\n\`);
    return 0;
  },
};
`,
      [`packages/agentci/test/e2e/${name}.test.ts`]: `import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

test('prints the agent of the spec', async () => {
  const cwd = tempDir({ 'agentci_spec.yaml': 'agent: shop\\nqueries: [{query: q, path: {max_tool_calls: 1}}]\\n' });
  expect(await cli(['${name}'], { cwd })).toEqual({ code: 0, stdout: 'shop\\n', stderr: '' });
});

test('without a spec it answers 2', async () => {
  expect((await cli(['${name}'], { cwd: tempDir() })).code).toBe(2);
});
`,
    }),
  },
};
