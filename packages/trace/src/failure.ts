import { type Fields, isFields, refuse } from './fields.ts';
import type { Failure } from './model.ts';

/**
 * Reads the `error` field of small formats: absent, `null` and `false` mean no error, and a text is
 * the message.
 */
export function failureOf(value: unknown, path: string): Failure | undefined {
  if (value === undefined || value === null || value === false) return undefined;
  if (value === true) return {};
  if (typeof value === 'string') return { message: value };
  return isFields(value) ? failureFields(value) : refuse(path, 'text or an object', value);
}

function failureFields(fields: Fields): Failure {
  const failure: Failure = {};
  if (typeof fields.type === 'string') failure.type = fields.type;
  if (typeof fields.message === 'string') failure.message = fields.message;
  if (typeof fields.code === 'string' || typeof fields.code === 'number')
    failure.code = fields.code;
  if (typeof fields.stack === 'string') failure.stack = fields.stack;
  if (typeof fields.retryable === 'boolean') failure.retryable = fields.retryable;
  return failure;
}
