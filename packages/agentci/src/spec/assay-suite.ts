import type { YamlMap } from '../kit/yaml-node.ts';
import type { Problems } from './problems.ts';

/** An Assay suite tells itself by its own words: `tests`, usually with `suite`, and no `queries`. */
export function isAssaySuite(root: YamlMap): boolean {
  return root.entries.has('tests') && !root.entries.has('queries') && !root.entries.has('agent');
}

/** Says what the file is and what to do with it. */
export function reportAssaySuite(root: YamlMap, problems: Problems): void {
  const { keySource, keyStart } = root.entries.get('tests')!;
  problems.add(
    { source: keySource, start: keyStart },
    {
      code: 'SPEC_ASSAY_SUITE',
      message: 'this is an Assay suite, not an AgentCI spec',
      hint: 'put its rules under "path: rules:" of a query, and its policy under "policy:"',
    },
  );
}
