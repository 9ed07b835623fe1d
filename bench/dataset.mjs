// The neutral data set: N cases with a precomputed JSON answer and three tool calls. 2 % miss a
// term, so the right verdict is N * 0.98 pass, N * 0.02 fail. Written once in the format of the
// baseline program and once in AgentCI's.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const schema = {
  type: 'object',
  required: ['answer', 'order_id', 'status'],
  properties: {
    answer: { type: 'string', minLength: 1 },
    order_id: { type: 'string', pattern: '^ORD-[0-9]{5}$' },
    status: { enum: ['ok', 'late', 'lost'] },
  },
  additionalProperties: false,
};
const cities = ['Alpha City', 'Beta Harbor', 'Gamma Falls', 'Delta Point'];
const pad = (i) => String(i).padStart(5, '0');
const q = (value) => JSON.stringify(value); // JSON strings are valid YAML

function makeCases(n) {
  return Array.from({ length: n }, (_, i) => {
    const city = cities[i % cities.length];
    const fails = i % 50 === 49;
    return {
      id: `case-${pad(i)}`,
      question: `Where does order ${pad(i)} ship to, and what is its status?`,
      answer: JSON.stringify({
        answer: `The Capital of Region ${pad(i)} is ${fails ? 'unknown' : city}. ${'Shipping takes three to five working days. '.repeat(3)}`,
        order_id: `ORD-${pad(i)}`,
        status: 'ok',
      }),
      contains: [`capital of region ${pad(i)}`, city.toLowerCase()],
      forbid: "i'm sorry",
      regex: 'ORD-\\d{5}',
      schema,
      tools: [
        { name: 'search_kb', args: { query: `region ${pad(i)}`, limit: 5 } },
        { name: 'lookup_order', args: { order_id: `ORD-${pad(i)}` } },
        { name: 'compose_answer', args: { tone: 'neutral' } },
      ],
    };
  });
}

/** Per case: two terms, a forbidden term, a pattern, a JSON Schema, the exact tool order. */
function agentciSpec(cases) {
  const lines = [
    'version: 1',
    'agent: bench',
    'defaults:',
    '  correctness:',
    `    not_in_answer: [${q("i'm sorry")}]`,
    `    regex_match: ${q('ORD-\\d{5}')}`,
    `    json_schema: ${q(schema)}`,
    '  path:',
    '    expected_tools: [search_kb, lookup_order, compose_answer]',
    '    match_mode: strict',
    'queries:',
  ];
  for (const c of cases) {
    lines.push(
      `  - id: ${c.id}`,
      `    query: ${q(c.question)}`,
      '    correctness:',
      `      expected_in_answer: [${c.contains.map(q).join(', ')}]`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/**
 * The worst form: nothing is shared, and every query has all of its checks, as in generated files.
 */
function writtenOutSpec(cases) {
  const lines = ['version: 1', 'agent: bench', 'queries:'];
  for (const c of cases) {
    lines.push(
      `  - id: ${q(c.id)}`,
      `    query: ${q(c.question)}`,
      '    correctness:',
      `      expected_in_answer: [${c.contains.map(q).join(', ')}]`,
      `      not_in_answer: [${q(c.forbid)}]`,
      `      regex_match: ${q(c.regex)}`,
      `      json_schema: ${q(c.schema)}`,
      '    path:',
      `      expected_tools: [${c.tools.map((tool) => tool.name).join(', ')}]`,
      '      match_mode: strict',
    );
  }
  return `${lines.join('\n')}\n`;
}

function floorSpec(cases) {
  const lines = ['tests:'];
  for (const c of cases) {
    lines.push(`  - id: ${c.id}`, `    question: ${q(c.question)}`, '    assert:');
    lines.push(
      `      - {type: contains-all, value: [${c.contains.map(q).join(', ')}]}`,
      `      - {type: not-contains, value: ${q(c.forbid)}}`,
    );
    lines.push(
      `      - {type: regex, value: ${q(c.regex)}}`,
      `      - {type: is-json, value: ${q(c.schema)}}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

export function writeDataset(n, dir) {
  mkdirSync(dir, { recursive: true });
  const cases = makeCases(n);
  writeFileSync(join(dir, `cases-${n}.json`), JSON.stringify({ cases }));
  writeFileSync(join(dir, `floor-${n}.yaml`), floorSpec(cases));
  writeFileSync(join(dir, `agentci-${n}.yaml`), agentciSpec(cases));
  writeFileSync(join(dir, `written-out-${n}.yaml`), writtenOutSpec(cases));
  const traces = cases.map(({ id, question, answer, tools }) =>
    JSON.stringify({ id, query: question, answer, tool_calls: tools }),
  );
  writeFileSync(join(dir, `traces-${n}.jsonl`), `${traces.join('\n')}\n`);
}

/** Simple-form recordings of about 300 bytes, to measure only reading. */
export function writeTraces(n, path) {
  const chunks = [];
  for (let i = 0; i < n; i++) {
    chunks.push(
      JSON.stringify({
        id: `trace-${i}`,
        query: `What is the status of order ${i}?`,
        answer: `Order ${i} is on its way and will arrive on Thursday.`,
        tool_calls: [
          { name: 'lookup_order', args: { id: i }, result: 'in transit', latency_ms: 12 },
          { name: 'compose', args: { tone: 'neutral' }, result: 'ok', latency_ms: 3 },
        ],
        cost_usd: 0.0001,
        total_tokens: 120,
        latency_ms: 900,
      }),
    );
  }
  writeFileSync(path, `${chunks.join('\n')}\n`);
}
