import { defined } from '@agentci/lib/data';
import { PII_TYPES } from '@agentci/lib/secrets';
import { SCHEMA_SIGNS } from './assay-form.ts';
import { RULES } from './rules/index.gen.ts';
import type { RuleField } from './rules/rule.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const names: Schema = { type: 'array', items: text, minItems: 1 };
const oneOrMore = (schema: Schema): Schema => ({
  anyOf: [schema, { type: 'array', items: schema, minItems: 1 }],
});
const closed = (properties: Schema, required: readonly string[] = []): Schema =>
  defined({
    type: 'object',
    properties,
    required: required.length !== 0 ? required : undefined,
    additionalProperties: false,
  });

const selector: Schema = {
  anyOf: [
    text,
    closed({ tool: text, args_match: { type: 'object', additionalProperties: text } }, ['tool']),
  ],
};
const expression: Schema = {
  type: 'string',
  description: 'CEL over call, args, result, previous, agent, query and tool',
};
const common: Schema = {
  id: text,
  description: text,
  when: { ...expression, description: 'Only calls for which this CEL expression is true' },
  agents: { ...oneOrMore(text), description: 'Only calls of these agents (globs)' },
};

/** Fields with a custom reader. */
const OWN: Readonly<Record<string, Schema>> = {
  in: { enum: ['arguments', 'result'] },
  path: text,
  pii: { anyOf: [{ const: true }, oneOrMore({ enum: PII_TYPES })] },
  pattern: text,
  pinned: { type: 'string', description: 'A file with an answer to tools/list' },
};

function fieldSchema(name: string, { kind, least }: RuleField): Schema {
  switch (kind) {
    case 'selector':
      return selector;
    case 'selectors':
      return oneOrMore(selector);
    case 'count':
      return { type: 'integer', minimum: least ?? 0 };
    case 'flag':
      return { type: 'boolean' };
    case 'text':
      return text;
    case 'expression':
      return expression;
    case 'value':
      return OWN[name] ?? {};
  }
}

const rules = (): Schema => ({
  type: 'array',
  minItems: 1,
  items: {
    anyOf: RULES.map(({ type, summary, fields }) => {
      const required = Object.entries(fields).flatMap(([name, field]) =>
        field.required === true ? [name] : [],
      );
      const own = Object.fromEntries(
        Object.entries(fields).map(([name, field]) => [name, fieldSchema(name, field)]),
      );
      // `pattern: x` of a blocklist means `tools: ["*x*"]`.
      const isBlocklist = type === 'blocklist';
      return {
        ...closed(
          { type: { const: type }, ...common, ...own, ...(isBlocklist ? { pattern: text } : {}) },
          ['type', ...(isBlocklist ? [] : required)],
        ),
        description: summary,
      };
    }),
  },
});

const flows: Schema = {
  type: 'array',
  minItems: 1,
  items: closed(
    {
      ...common,
      from: { anyOf: [text, closed({ tool: selector, path: text }, ['tool'])] },
      to: { anyOf: [text, closed({ tool: selector, argument: text }, ['tool'])] },
      allow: { const: false },
      unless: closed({ approved_by: selector, when: expression }, ['approved_by']),
    },
    ['from', 'to', 'allow'],
  ),
};

const call: Schema = {
  anyOf: [
    text,
    closed({
      tool: text,
      name: text,
      args: {},
      arguments: {},
      result: {},
      error: { type: ['string', 'null'] },
      agent: { type: ['string', 'null'] },
      latency_ms: { type: 'number' },
      at_ms: { type: 'number' },
    }),
  ],
};

const list: Schema = { type: 'array', items: text };
const listOrNothing: Schema = { anyOf: [names, { type: 'null' }] };

/** Recognizes a JSON Schema by its specific keys. */
const argumentsSchema: Schema = {
  type: 'object',
  anyOf: SCHEMA_SIGNS.map((key) => ({ required: [key] })),
};

const orNothing = (properties: Readonly<Record<string, Schema>>): Schema =>
  Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [key, { anyOf: [schema, { type: 'null' }] }]),
  );

/** The keys of a policy. */
const properties = (): Readonly<Record<string, Schema>> => ({
  version: { type: ['string', 'number'] },
  name: text,
  description: text,
  tools: {
    type: 'object',
    description: 'Tools by name with their arguments; allow and deny are lists',
    properties: { allow: listOrNothing, deny: listOrNothing },
  },
  allow: list,
  deny: list,
  constraints: { type: ['object', 'array'] },
  definitions: { type: 'object' },
  $defs: { type: 'object' },
  schemas: { type: 'object', description: 'JSON Schemas of arguments by tool' },
  enforcement: closed({ unconstrained_tools: { enum: ['allow', 'warn', 'deny', null] } }),
  limits: {
    type: 'object',
    properties: {
      max_tool_calls_total: { type: ['integer', 'null'], minimum: 0 },
      max_requests_total: { type: ['integer', 'null'], minimum: 0 },
    },
    additionalProperties: false,
  },
  aliases: { type: 'object', additionalProperties: oneOrMore(text) },
  sequences: rules(),
  rules: rules(),
  flows,
  blocklist: names,
  on_error: { const: 'block' },
  examples: {
    type: 'array',
    minItems: 1,
    items: closed(
      {
        name: text,
        calls: { type: 'array', items: call, minItems: 1 },
        expect: { enum: ['allow', 'deny'] },
        rule: text,
        query: text,
        tools: { type: 'array', items: { type: 'object', required: ['name'] } },
      },
      ['calls', 'expect'],
    ),
  },
});

/** Keys allowed next to a plain map of schemas. */
const BESIDE_SCHEMAS = new Set(['version', 'name', 'description', 'on_error']);

/**
 * The schema of a policy file, for editors. `agentci policy` also checks constraints that a schema
 * cannot express.
 */
export function policyJsonSchema(): Schema {
  const own = properties();
  const telling = Object.keys(own).filter((key) => !BESIDE_SCHEMAS.has(key));
  const isWritten = (key: string): Schema => ({
    required: [key],
    properties: { [key]: { not: { type: 'null' } } },
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'AgentCI policy',
    type: 'object',
    // An empty key is ignored. A plain map from tools to argument schemas is a policy too.
    additionalProperties: { anyOf: [{ type: 'null' }, argumentsSchema] },
    properties: orNothing(own),
    // Next to a policy key, a tool name is a mistake.
    if: { anyOf: telling.map(isWritten) },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema.
    then: {
      properties: Object.fromEntries(Object.keys(own).map((key) => [key, true])),
      additionalProperties: { type: 'null' },
    },
  };
}
