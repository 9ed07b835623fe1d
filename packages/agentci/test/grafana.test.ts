import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const names = (text: string) => new Set(text.match(/\bagentci_[a-z0-9_]+/g) ?? []);

test('the dashboard asks only for metrics that are exported, and the page lists them all', () => {
  const exported = names(read('packages/reporters/src/prometheus.ts'));
  expect(
    [...names(read('docs/guide/grafana-dashboard.json'))].filter((name) => !exported.has(name)),
  ).toEqual([]);
  expect(
    [...exported].filter((name) => !names(read('docs/reporters/prometheus.md')).has(name)),
  ).toEqual([]);
});

test('every panel has a query and a position', () => {
  const { panels } = JSON.parse(read('docs/guide/grafana-dashboard.json')) as {
    panels: { id: number; targets: { expr: string }[]; gridPos: { x: number; w: number } }[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(
    panels.every(
      ({ targets, gridPos }) =>
        targets.every(({ expr }) => expr.includes('$agent')) && gridPos.x + gridPos.w <= 24,
    ),
  ).toBe(true);
});
