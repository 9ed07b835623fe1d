import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LAYERS } from '@agentci/results';
import { parseSpec } from '@agentci/spec';
import { describe, expect, test } from 'vitest';
import { isOfLayer } from './check.ts';
import { CHECKS } from './index.gen.ts';

const page = (key: string): URL => new URL(`../../../docs/checks/${key}.md`, import.meta.url);
const index = readFileSync(page('README'), 'utf8');

describe('every check has a page', () => {
  const layersOf = (check: (typeof CHECKS)[number]) =>
    LAYERS.filter((layer) => isOfLayer(check, layer));
  test.each(
    CHECKS.map((check) => ({ layer: check.layer, key: check.key, layers: layersOf(check) })),
  )('$layer.$key, listed, with an example that loads clean', ({ key, layers }) => {
    expect(existsSync(page(key))).toBe(true);
    expect(index).toContain(`[${key}](${key}.md)`);
    const text = readFileSync(page(key), 'utf8');
    for (const layer of layers) expect(text).toContain(`\`${layer}.${key}\``);
    const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const { suite, diagnostics } = parseSpec(example, { file: fileURLToPath(page(key)) });
      expect(diagnostics).toEqual([]);
      const written = layers.flatMap((layer) => Object.keys(suite?.queries[0]?.[layer] ?? {}));
      expect(written).toContain(key);
    }
  });
});
