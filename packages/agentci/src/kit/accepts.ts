import { valueIssues } from './value-issues.ts';
import type { ValueSchema } from './value-schema.ts';

/** Whether a value is one the schema allows. */
export const accepts = (schema: ValueSchema, value: unknown): boolean =>
  valueIssues(schema, value).length === 0;
