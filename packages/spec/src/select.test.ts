import { expect, test } from 'vitest';
import { selectQueries } from './select.ts';
import type { Query } from './suite.ts';

const query = (id: string, text: string, ...tags: string[]): Query => ({
  id,
  query: text,
  tags,
  runs: 1,
  minPassRate: 1,
});
const suite = {
  queries: [
    query('install', 'How do I install it?', 'smoke', 'docs'),
    query('refund-1', 'Refund order 42', 'smoke'),
    query('refund-2', 'Why?', 'slow'),
  ],
};

test.each([
  ['nothing is asked for', {}, [0, 1, 2]],
  ['empty lists are no condition', { tags: [], ids: [], indices: [], filter: '' }, [0, 1, 2]],
  ['any of the tags', { tags: ['docs', 'slow'] }, [0, 2]],
  ['no query has the tag', { tags: ['nonexistent'] }, []],
  ['part of the text, in any case', { filter: 'REFUND ORDER' }, [1]],
  ['part of the id', { filter: 'refund' }, [1, 2]],
  ['a glob over the id', { filter: 'refund-*' }, [1, 2]],
  ['a glob over the text', { filter: '*order*' }, [1]],
  ['a question mark as text', { filter: 'why?' }, [2]],
  ['a glob must match the whole', { filter: 'ref*x' }, []],
  ['ids', { ids: ['refund-2', 'install'] }, [0, 2]],
  ['positions', { indices: [1, 7] }, [1]],
  ['every condition counts', { tags: ['smoke'], filter: 'refund' }, [1]],
] as const)('selects when %s', (_, selection, expected) => {
  expect(selectQueries(suite, selection).map((each) => suite.queries.indexOf(each))).toEqual(
    expected,
  );
});
