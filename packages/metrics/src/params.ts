import { UserError } from '@agentci/lib/problems';
import {
  type Infer,
  issueMessage,
  leafIssues,
  type ObjectSchema,
  pathText,
  type ValueIssue,
  type ValueShape,
  v,
  valueIssues,
} from '@agentci/lib/values';
import type { ParamsSchema } from './metric.ts';

/** Parameters of a built-in metric, with the same schemas as the rest of a spec. */
export interface OwnParams<S extends ValueShape> extends ParamsSchema<Infer<ObjectSchema<S>>> {
  readonly shape: S;
}

export function metricParams<S extends ValueShape>(shape: S): OwnParams<S> {
  type Params = Infer<ObjectSchema<S>>;
  const schema = v.strictObject(shape);
  const safeParse: OwnParams<S>['safeParse'] = (value) => {
    const filled = withDefaults(shape, value);
    const issues = valueIssues(schema, filled)
      .flatMap(leafIssues)
      .map((issue) => ({
        path: issue.path,
        message: messageOf(issue, filled),
      }));
    return issues.length === 0
      ? { success: true, data: filled as Params }
      : { success: false, error: { issues } };
  };
  const messageOf = (issue: ValueIssue, value: unknown): string =>
    issueMessage(issue, schema, value);
  return {
    shape,
    safeParse,
    parse: (value) => {
      const read = safeParse(value);
      if (read.success) return read.data;
      const [issue] = read.error.issues;
      const where = pathText((issue?.path ?? []) as readonly (string | number)[]);
      throw new UserError(
        'METRIC_INVALID',
        `${where === '' ? 'the parameters' : `"${where}"`} ${issue?.message}`,
      );
    },
  };
}

export const isOwnParams = (params: object): params is OwnParams<ValueShape> =>
  'shape' in params && isShape(params.shape);

/** Other libraries also have a "shape". */
const isShape = (shape: unknown): boolean =>
  typeof shape === 'object' &&
  shape !== null &&
  Object.values(shape).every((schema) => 'def' in schema && 'notes' in schema);

function withDefaults(shape: ValueShape, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [key, { def }] of Object.entries(shape)) {
    if (def.kind === 'default' && filled[key] === undefined)
      filled[key] = structuredClone(def.value);
  }
  return filled;
}
