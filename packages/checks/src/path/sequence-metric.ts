import { v } from '@agentci/lib/values';
import { defineSetting } from '../check.ts';
import { neededKeyIssue } from '../issues.ts';

export const setting = defineSetting({
  layer: 'path',
  key: 'sequence_metric',
  order: 91,
  summary:
    'How `min_sequence_similarity` compares: `lcs` (longest common subsequence, the default) or `edit` (edit distance).',
  example: 'edit',
  schema: v.enum(['lcs', 'edit']),
  inspect: (_metric, siblings) =>
    siblings.min_sequence_similarity === undefined
      ? [neededKeyIssue('sequence_metric', 'min_sequence_similarity', 'error')]
      : [],
});
