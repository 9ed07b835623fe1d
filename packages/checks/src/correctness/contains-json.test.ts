import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './contains-json.ts';

const schema = { type: 'object', required: ['id'] };

describeCheck(check, {
  sample: {
    params: true,
    keeps: { answer: 'Here: {"a": 1}.' },
    breaks: { answer: 'Here: {"a": 1.' },
  },
  verdicts: [
    {
      when: 'in a fence',
      block: { contains_json: true },
      run: { answer: 'So:\n```json\n[1, 2]\n```' },
      status: 'pass',
    },
    {
      when: 'a number is not an object',
      block: { contains_json: true },
      run: { answer: '42' },
      status: 'fail',
    },
    {
      when: 'braces in prose',
      block: { contains_json: true },
      run: { answer: 'use {name} or [x]' },
      status: 'fail',
    },
    {
      when: 'inside brackets that are not JSON',
      block: { contains_json: true },
      run: { answer: '[see {"a": 1}]' },
      status: 'pass',
    },
    {
      when: 'one of two conforms',
      block: { contains_json: { schema } },
      run: { answer: '{"a": 1} and {"id": 2}' },
      status: 'pass',
    },
    {
      when: 'none conforms',
      block: { contains_json: { schema } },
      run: { answer: '{"a": 1} and [3]' },
      status: 'fail',
    },
    {
      when: 'a structured answer',
      block: { contains_json: { schema } },
      run: { answer: { id: 7 } },
      status: 'pass',
    },
    {
      when: 'nothing but opening brackets',
      block: { contains_json: true },
      run: { answer: '['.repeat(20_000) },
      status: 'error',
    },
  ],
  issues: [
    { block: { contains_json: { schema: {} } }, found: ['error SPEC_CANNOT_FAIL schema'] },
    {
      block: { contains_json: { schema: { type: 'objekt' } } },
      found: ['error SPEC_BAD_SCHEMA schema.type'],
    },
  ],
  refuses: [false, {}, { schema: 'x' }, 'yes'],
});
