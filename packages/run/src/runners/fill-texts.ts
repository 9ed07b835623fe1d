import {
  onlySlot,
  parseTemplate,
  renderTemplate,
  type Template,
  valueText,
} from '@agentci/lib/text';
import { PLACEHOLDER } from '@agentci/spec';
import { AgentError, type RunRequest } from './runner.ts';

/** The values of the run. They override variables of the same name. */
const ownValues = ({
  query,
  id,
  run,
  metadata,
  vars,
  turn,
}: RunRequest): Record<string, unknown> => ({
  query,
  id,
  run,
  metadata: metadata ?? {},
  vars,
  ...turn,
});

/** A single query is a conversation of one message. */
const valuesOfTurn = ({ query, id, run, turn }: RunRequest): Readonly<Record<string, unknown>> =>
  turn === undefined
    ? { message: query, messages: [{ role: 'user', content: query }], conversation: `${id}.${run}` }
    : { ...turn };

/** In runner texts these names refer to the run, with or without variables. */
const OWN_NAMES: ReadonlySet<string> = new Set(['query', 'id', 'run', 'metadata']);
const TURN_NAMES: ReadonlySet<string> = new Set(['message', 'messages', 'conversation']);

function valueIn(request: RunRequest, name: string): unknown {
  if (OWN_NAMES.has(name)) return ownValues(request)[name];
  if (TURN_NAMES.has(name)) {
    const value = valuesOfTurn(request)[name];
    if (value !== undefined) return value;
    throw new AgentError(
      'agent',
      'a stateful session has no {{messages}}: the agent keeps them; use {{message}}',
    );
  }
  const { vars = {} } = request;
  if (Object.hasOwn(vars, name)) return vars[name];
  throw new AgentError(
    'agent',
    `the runner needs the variable "${name}", which the query "${request.id}" does not have`,
  );
}

/** Texts are the same in every run, and there are few of them. */
const parsed = new Map<string, Template | undefined>();
const MAX_PARSED = 1000;

function templateOf(text: string): Template | undefined {
  if (parsed.has(text)) return parsed.get(text);
  const template = parseTemplate(text);
  if (parsed.size < MAX_PARSED) parsed.set(text, template);
  return template;
}

/**
 * Fills in a text of the runner with the values of this run. Without variables, only the names of
 * the run are filled in.
 */
export function filledText(
  text: string,
  request: RunRequest,
  encode: (text: string) => string = (each) => each,
): string {
  if (request.vars === undefined)
    return text.replace(PLACEHOLDER, (_, name: string) =>
      encode(valueText(valueIn(request, name))),
    );
  const template = templateOf(text);
  return template === undefined
    ? text
    : renderTemplate(template, (name) => valueIn(request, name), encode);
}

/**
 * Fills in program arguments and request headers. They stay literal without variables and turns.
 */
export function filledTexts(texts: readonly string[], request: RunRequest): readonly string[] {
  if (request.vars === undefined && request.turn === undefined) return texts;
  return texts.map((text) => {
    const filled = filledText(text, request);
    if (filled.includes('\0'))
      throw new AgentError('agent', 'a variable in a text of the runner holds a null byte');
    return filled;
  });
}

/**
 * The body of a request: a template, or all values. A text that is a single variable is replaced by
 * its value of any type.
 */
export function filledBody(template: unknown, request: RunRequest): unknown {
  if (template === undefined) return ownValues(request);
  const fill = (node: unknown): unknown => {
    if (typeof node === 'string') return filledValue(node, request);
    if (Array.isArray(node)) return node.map(fill);
    if (node !== null && typeof node === 'object')
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, fill(value)]));
    return node;
  };
  return fill(template);
}

function filledValue(text: string, request: RunRequest): unknown {
  const template = templateOf(text);
  const slot = template === undefined ? undefined : onlySlot(template);
  if (slot === undefined || slot.isJson) return filledText(text, request);
  const isKnown =
    request.vars !== undefined || OWN_NAMES.has(slot.name) || TURN_NAMES.has(slot.name);
  return isKnown ? valueIn(request, slot.name) : text;
}

/**
 * A longer value does not fit into the environment of a program. It is still in `vars` on stdin.
 */
const MAX_ENV_BYTES = 100_000;

/**
 * `AGENTCI_VAR_NAME` for every variable. Skips names that would collide, and values that an
 * environment cannot hold.
 */
export function variableEnvironment(vars: RunRequest['vars']): Record<string, string> {
  const env: Record<string, string> = {};
  if (vars === undefined) return env;
  const taken = new Set<string>();
  for (const [name, value] of Object.entries(vars)) {
    const key = `AGENTCI_VAR_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
    const text = valueText(value);
    if (taken.has(key) || text.includes('\0') || Buffer.byteLength(text) > MAX_ENV_BYTES)
      delete env[key];
    else env[key] = text;
    taken.add(key);
  }
  return env;
}
