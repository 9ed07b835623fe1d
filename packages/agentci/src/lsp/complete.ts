import { RUBRICS } from '@agentci/judge';
import { RULES } from '@agentci/policy';
import type { CompletionItem } from 'vscode-languageserver/node';
import { type Cursor, ITEM } from './cursor.ts';
import type { DocumentKind } from './diagnose.ts';
import type { Names } from './nearby.ts';
import type { SchemaGuide } from './schema-walk.ts';

// Constants of the protocol.
const PROPERTY = 10;
const VALUE = 12;

/** Keys whose values are tool names. */
const TOOL_KEYS = new Set([
  ...['expected_tools', 'forbidden_tools', 'expected_tool_sequence', 'tool', 'tools', 'goal_tool'],
  ...[
    'blocklist',
    'allow',
    'deny',
    'first',
    'then',
    'trigger',
    'sequence',
    'before',
    'after',
    'must_precede',
  ],
]);

interface Offer {
  readonly label: string;
  readonly isKey: boolean;
  readonly detail?: string;
}

/** Completions at a position. */
export function complete(
  cursor: Cursor,
  line: number,
  known: { readonly kind: DocumentKind; readonly guide: SchemaGuide; readonly names: Names },
): CompletionItem[] {
  const offers =
    known.kind === 'policy' ? policyOffers(cursor, known.names) : specOffers(cursor, known);
  const range = {
    start: { line, character: cursor.start },
    end: { line, character: cursor.start + cursor.word.length },
  };
  const byLabel = new Map(offers.map((offer) => [offer.label, offer]));
  return [...byLabel.values()].map(({ label, isKey, detail }) => ({
    label,
    kind: isKey ? PROPERTY : VALUE,
    textEdit: { range, newText: isKey ? `${label}: ` : plainOrQuoted(label) },
    detail: detail === undefined || detail === '' ? undefined : detail,
  }));
}

function specOffers(
  cursor: Cursor,
  { guide, names }: { guide: SchemaGuide; names: Names },
): Offer[] {
  const { path, isKey, isValue } = cursor;
  // An inline policy in a spec has the keys of a policy.
  const policyAt = path.indexOf('policy');
  if (policyAt !== -1) return policyOffers({ ...cursor, path: path.slice(policyAt + 1) }, names);
  const keys = isKey
    ? [...guide.keysAt(path)].map(([label, detail]) => ({ label, isKey: true, detail }))
    : [];
  const values = isValue ? [...guide.valuesAt(path), ...namesAt(path, names)] : [];
  return [...keys, ...values.map((label) => ({ label, isKey: false }))];
}

function namesAt(path: readonly string[], { tools, queries, versions }: Names): Iterable<string> {
  const key = path.findLast((step) => step !== ITEM) ?? '';
  if (TOOL_KEYS.has(key)) return tools;
  if (key === 'id') return queries;
  if (key === 'baseline') return versions;
  return key === 'template' ? Object.keys(RUBRICS) : [];
}

const POLICY_KEYS: Readonly<Record<string, string>> = {
  version: 'version of the policy format',
  name: 'name in reports',
  description: 'for people',
  tools: 'allowed arguments of each tool, allow and deny lists',
  sequences: 'rules on the order and number of calls',
  rules: 'rules on the order and number of calls',
  blocklist: 'tools that may never be called',
  flows: 'what results of one tool may not reach another',
  aliases: 'names for groups of tools',
  limits: 'bounds on all calls together',
  enforcement: 'what happens to tools without constraints',
  schemas: 'JSON Schemas of arguments by tool',
  definitions: 'parts that $ref points to',
  examples: 'calls and the verdict on them, for agentci policy test',
};

function policyOffers({ path, isKey, isValue }: Cursor, names: Names): Offer[] {
  const keys = (record: Readonly<Record<string, string>>): Offer[] =>
    isKey ? Object.entries(record).map(([label, detail]) => ({ label, isKey: true, detail })) : [];
  const [first, ...below] = path;
  if (first === undefined) return keys(POLICY_KEYS);
  if (first === 'tools' && below.length === 0)
    return isKey ? ['allow', 'deny', ...names.tools].map((label) => ({ label, isKey: true })) : [];
  if (first === 'tools' && below.length === 1 && isKey && !['allow', 'deny'].includes(below[0]!))
    return ['description', 'arguments', 'required', 'additionalProperties', 'on_violation'].map(
      (label) => ({
        label,
        isKey,
      }),
    );
  if (first === 'limits')
    return keys({ max_tool_calls_total: 'calls of tools', max_requests_total: 'requests' });
  const last = path.findLast((step) => step !== ITEM) ?? '';
  if (last === 'type' && isValue)
    return RULES.map(({ type, summary }) => ({ label: type, isKey: false, detail: summary }));
  const isRule = (first === 'rules' || first === 'sequences') && below.length === 1;
  if (isRule && isKey) {
    const fields = new Set(['type', 'id', ...RULES.flatMap((rule) => Object.keys(rule.fields))]);
    return [...fields].map((label) => ({ label, isKey: true }));
  }
  return isValue && TOOL_KEYS.has(last)
    ? [...names.tools].map((label) => ({ label, isKey: false }))
    : [];
}

/** Quotes a label if YAML would misread it. */
const plainOrQuoted = (label: string): string =>
  /^[A-Za-z_][\w./-]*$/.test(label) ? label : JSON.stringify(label);
