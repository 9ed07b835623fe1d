import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseSpec } from '../spec/parse-spec.ts';
import { CHECKS } from './index.gen.ts';

const page = (key: string): URL => new URL(`../../../../docs/checks/${key}.md`, import.meta.url);
const index = readFileSync(page('README'), 'utf8');

describe('every check has a page', () => {
  test.each(CHECKS.map(({ layer, key }) => ({ layer, key })))(
    '$layer.$key, listed, with an example that loads clean',
    ({ layer, key }) => {
      expect(existsSync(page(key))).toBe(true);
      expect(index).toContain(`[${key}](${key}.md)`);
      const text = readFileSync(page(key), 'utf8');
      expect(text).toContain(`\`${layer}.${key}\``);
      const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        const { suite, diagnostics } = parseSpec(example, { file: `${key}.yaml` });
        expect(diagnostics).toEqual([]);
        expect(Object.keys(suite?.queries[0]?.[layer] ?? {})).toContain(key);
      }
    },
  );
});
