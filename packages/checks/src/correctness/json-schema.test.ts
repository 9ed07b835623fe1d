import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './json-schema.ts';

const NUMBERS = { json_schema: { type: 'array', items: { type: 'number' } } };

describeCheck(check, {
  sample: {
    params: { type: 'object', required: ['a'] },
    keeps: { answer: '{"a":1}' },
    breaks: { answer: '{}' },
  },
  verdicts: [
    {
      when: 'there is no final answer',
      block: { json_schema: { type: 'object' } },
      run: { tool_calls: [] },
      status: 'error',
    },
    {
      when: 'a structured answer is validated as it is',
      block: NUMBERS,
      run: { answer: [1, 2] },
      status: 'pass',
    },
    {
      when: 'a structured answer of another type',
      block: NUMBERS,
      run: { answer: ['1'] },
      status: 'fail',
    },
    {
      when: 'JSON in a fence is text',
      block: NUMBERS,
      run: { answer: '```json\n[1]\n```' },
      status: 'fail',
    },
  ],
  issues: [
    { block: { json_schema: {} }, found: ['error SPEC_CANNOT_FAIL'] },
    { block: { json_schema: { title: 'x' } }, found: ['error SPEC_CANNOT_FAIL'] },
    { block: { json_schema: { type: 'objekt' } }, found: ['error SPEC_BAD_SCHEMA type'] },
  ],
  refuses: ['text'],
});
