// The lower bound: the same work in plain JavaScript without a framework. YAML in, checks, one JSON
// line per case out.
//   node bench/floor.mjs <N> <dir>
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [n, dir] = process.argv.slice(2);
const require = createRequire(join(dir, 'package.json'));
const yaml = require('js-yaml');
const Ajv = require('ajv');
const ajv = new (Ajv.default ?? Ajv)();

const spec = yaml.load(readFileSync(join(dir, `floor-${n}.yaml`), 'utf8'));
const byId = new Map(
  JSON.parse(readFileSync(join(dir, `cases-${n}.json`), 'utf8')).cases.map((c) => [c.id, c]),
);
const [{ schema }] = byId.values();
const valid = ajv.compile(schema);
const order = ['search_kb', 'lookup_order', 'compose_answer'];
const lines = [];
for (const test of spec.tests) {
  const c = byId.get(test.id);
  const lower = c.answer.toLowerCase();
  const checks = test.assert.map(({ type, value }) => {
    if (type === 'contains-all') return value.every((term) => lower.includes(term));
    if (type === 'not-contains') return !lower.includes(value);
    if (type === 'regex') return new RegExp(value).test(c.answer);
    return valid(JSON.parse(c.answer));
  });
  checks.push(
    c.tools.length === order.length && c.tools.every((tool, i) => tool.name === order[i]),
  );
  lines.push(JSON.stringify({ id: c.id, pass: !checks.includes(false), checks }));
}
writeFileSync(join(dir, `floor-${n}.out.jsonl`), lines.join('\n'));
