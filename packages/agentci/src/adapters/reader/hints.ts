import { isFields } from '../../trace/fields.ts';
import type { ToolStep, Trace } from '../../trace/model.ts';
import { isUnnamed, splitToolName } from '../../trace/tool-name.ts';
import type { AdapterItem, RawRecord } from '../adapter.ts';
import { undecorated } from '../build/span-name.ts';

/**
 * A last look at what was read: a recording that names a tool, or says that one ran, where its traces show no such call.
 * Formats grow new places for calls faster than readers do; what a reader does not know must not look like "no calls".
 */
export function withHints(items: readonly AdapterItem[], records: readonly RawRecord[]): readonly AdapterItem[] {
  if (!items.some((item) => item.ok && item.trace.captured.toolCalls === 'full')) return items;
  const given = items.map((item) => (item.ok ? { ok: true as const, trace: withoutSilentAgents(item.trace) } : item));
  const scan = new HintScan();
  for (const { value } of records) scan.look(value, '');
  if (scan.isQuiet) return given;
  const traces = given.flatMap((item) => (item.ok ? [item.trace] : []));
  const missing = missingIn(scan, traces);
  return missing === undefined
    ? given
    : given.map((item) => (item.ok ? { ok: true, trace: lowered(item.trace, missing) } : item));
}

/** A sub-agent that was started and of which nothing is recorded may have called anything. */
function withoutSilentAgents(trace: Trace): Trace {
  const parents = new Set(trace.steps.map(({ parent }) => parent));
  const isStarted = (step: Trace['steps'][number]): step is ToolStep =>
    step.kind === 'tool' && SPAWNS.test(step.name) && /^(?:claude-code|codex)/.test(trace.source.format);
  const silent = trace.steps.filter(isStarted).find(({ id }) => !parents.has(id));
  if (silent === undefined) return trace;
  return lowered(trace, `a sub-agent started by ${JSON.stringify(silent.name)}`);
}

/** Tools of coding agents that start another agent. */
const SPAWNS = /^(?:Task|Agent|spawn_agent)$/;

function lowered(trace: Trace, hint: string): Trace {
  if (trace.captured.toolCalls !== 'full') return trace;
  const message = `the recording tells of ${hint}, which is not among the calls that were read: calls may be missing`;
  return {
    ...trace,
    captured: { ...trace.captured, toolCalls: 'partial' },
    warnings: [...trace.warnings, { code: 'CALLS_HINTED', message }],
  };
}

/** The first hint that no call of the traces explains. */
function missingIn(scan: HintScan, traces: readonly Trace[]): string | undefined {
  const calls = traces.flatMap(({ steps }) => steps.filter((step): step is ToolStep => step.kind === 'tool'));
  const known = new Set(
    calls.flatMap(({ name, rawName }) => [key(name), ...(rawName === undefined ? [] : [key(rawName)])]),
  );
  for (const trace of traces) {
    for (const { name } of trace.agents) known.add(key(name));
    for (const step of trace.steps)
      if (step.kind === 'handoff') known.add(key(step.to)).add(key(`transfer_to_${step.to}`));
    for (const step of trace.steps) {
      if (step.kind === 'retrieval') known.add('retriever');
      // Tools that the user's side ran are events, not calls of the agent.
      if (step.kind === 'event' && isFields(step.data) && typeof step.data.name === 'string')
        known.add(key(step.data.name));
    }
  }
  const lost = [...scan.names].find((name) => !known.has(key(name)));
  if (lost !== undefined) return `the tool ${JSON.stringify(lost.slice(0, 60))}`;
  if (scan.counted > calls.length) return `${scan.counted} tool calls`;
  if (scan.absentReply !== undefined) return `the message ${JSON.stringify(scan.absentReply.slice(0, 60))}`;
  if (scan.removed !== undefined) return `${JSON.stringify(scan.removed)}: earlier parts were taken out`;
  const isServed = calls.some(({ by, name }) => by === 'provider' || SERVED.test(name));
  return scan.activity !== undefined && !isServed ? JSON.stringify(scan.activity) : undefined;
}

/** Names differ by case and by how words are joined. */
const key = (name: string): string =>
  splitToolName(undecorated(name))
    .name.toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** Tools that run at the provider go by such names. */
const SERVED = /search|fetch|code|python|bash|shell|url|browser|grounding|computer|image|mcp|retriev/i;

const MAX_NODES = 200_000;
const MAX_DEPTH = 40;

/** Lists of calls, under the names that programs give them. */
const CALL_LIST =
  /^(?:executed_tools|tool_?calls?|invalid_tool_calls|function_?calls?|tool_?invocations|tool_?call_?names|tools_called|tool_?uses|intermediate_?steps|agent_?calls?)$/i;
/** A name beside which there is nothing but a tool. */
const NAME_KEY = /^(?:tool_?name|tool_?call_?name)$/i;
/** What is said of tools that may be used, and values that belong to a call or its result. */
const NOT_SAID =
  /^(?:tools|tool_?definitions|functions|function_?declarations|available_?tools|allowed_?tools|active_?tools|tool_?(?:config|choice|set|schemas?|list|spec)|.*schema|parameters|arguments|args|response_format|properties|result|results|output_?value|tool_?response|observation|env|environment|config|settings)$/i;
/** Kinds of blocks, items and events that are a call, a piece of one, or its end. */
const CALL_KIND =
  /^(?:server_|mcp_|local_|custom_)?(?:tool|function|shell|computer|apply_patch)_?-?(?:use|call|progress)(?:_begin|_end)?$/i;

/** Fields that are only there when something ran at the provider or was taken out of the record. */
const ACTIVITY =
  /^(?:executable_?code|code_?execution_?result|web_?search_?queries|url_?context_?metadata|automatic_?function_?calling_?history|long_?running_?tool_?ids|requested_?tool_?confirmations|tool_?use_?prompt_?token_?count|web_?search_?requests|web_?fetch_?requests|executed_tools|tool_outputs|tool_?usage|tool_?response)$/i;
const COUNT = /^(?:total_?tool_?use_?count|tool_?call_?count|num_?tool_?calls|total_?tool_?calls|tool_?uses)$/i;
const ACTIVE_KIND =
  /^(?:CodeExecutionEvent|agent_progress|tool_progress|url_citation|mcp_approval_request|item_reference|pause_turn|MALFORMED_FUNCTION_CALL|web_search_result_location|(?:bash_)?code_execution_(?:tool_)?result|bash_code_execution_tool_result|exec_command_(?:begin|end)|mcp_tool_call_(?:begin|end)|patch_apply_(?:begin|end)|web_search_(?:begin|end))$/;

/** Counts of what was taken out of a history, and kinds of what is in its place. */
const REMOVED =
  /^(?:cleared_tool_uses|(?:messages_?|turns_?)(?:removed|dropped|cleared)|(?:removed|dropped|cleared)_messages)$/i;
const COMPACTED = /^(?:context_|conversation_)?compact(?:ion|ed)(?:[_-]\w{1,40})?$/i;

/** What a model wrote. */
const SAID = /^(?:content|text|value)$/;
/** Calls as models write them where nothing parses them. */
const WRITTEN_CALL =
  /<(?:tool_call|function_calls?|invoke name=|\|tool_call)|^Action:[^\S\n]*\S[^\n]{0,200}\n+Action Input:/m;
/** Who shows a model how to write a call, and writes none. */
const ASKING = /^(?:system|developer|user|human)$/i;

/** Collects what raw records say of tools. */
class HintScan {
  readonly names = new Set<string>();
  /** The largest number of calls that is counted anywhere. */
  counted = 0;
  /** The first sign that something ran. */
  activity: string | undefined;
  /** The first sign that parts of the history were taken out or summed up. */
  removed: string | undefined;
  #nodes = 0;
  #hasItems = false;
  #isAsked = false;
  readonly #ids = new Set<string>();
  readonly #before = new Set<string>();

  /** A message that others continue from and that is not here. */
  get absentReply(): string | undefined {
    return [...this.#before].find((id) => !this.#ids.has(id));
  }

  get isQuiet(): boolean {
    const signs = [this.activity, this.removed, this.absentReply];
    return this.names.size === 0 && this.counted === 0 && signs.every((sign) => sign === undefined);
  }

  look(value: unknown, at: string, depth = 0): void {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || ++this.#nodes > MAX_NODES) return;
    if (Array.isArray(value)) {
      for (const item of value) {
        if (CALL_LIST.test(at)) this.#called(item);
        this.look(item, at, depth + 1);
      }
      return;
    }
    const fields = value as Readonly<Record<string, unknown>>;
    const isAsked = this.#isAsked;
    if (typeof fields.role === 'string') this.#isAsked = ASKING.test(fields.role);
    this.#lookInside(fields, at, depth);
    this.#isAsked = isAsked;
  }

  #lookInside(fields: Readonly<Record<string, unknown>>, at: string, depth: number): void {
    if (CALL_LIST.test(at)) this.#called(fields);
    this.#attribute(fields);
    if (fields.event === 'on_tool_start' || at === 'invocation') this.#named(fields.name ?? fields.tool);
    const kind = fields.type ?? fields.kind;
    if (typeof fields.subtype === 'string' && ACTIVE_KIND.test(fields.subtype)) this.activity ??= fields.subtype;
    if (typeof kind === 'string') {
      if (kind === 'response_item') this.#hasItems = true;
      this.#compacted(kind, fields);
      if (ACTIVE_KIND.test(kind)) this.activity ??= kind;
      if (CALL_KIND.test(kind)) this.#named(fields.name ?? fields.tool_name ?? fields.toolName);
    }
    // A container is there where the provider ran code; more than one round, where it ran a tool in between.
    const { container, iterations } = fields;
    if (isFields(container) && typeof container.expires_at === 'string') this.activity ??= 'container';
    if (Array.isArray(iterations) && iterations.filter(isRound).length > 1) this.activity ??= 'iterations';
    for (const [name, inner] of Object.entries(fields)) this.#member(name, inner, { fields, kind, depth });
  }

  #member(
    name: string,
    inner: unknown,
    about: { readonly fields: Readonly<Record<string, unknown>>; readonly kind: unknown; readonly depth: number },
  ): void {
    if (typeof inner === 'string') {
      const hooked = name === 'hook_name' ? /^(?:Pre|Post)ToolUse:(.+)$/.exec(inner)?.[1] : undefined;
      if (NAME_KEY.test(name) || hooked !== undefined) this.#named(hooked ?? inner);
      else if (SAID.test(name) && !this.#isAsked && WRITTEN_CALL.test(inner))
        this.activity ??= 'a call written as text';
      else if (name === 'logicalParentUuid') this.#before.add(inner);
      else if (name === 'id' || name === 'uuid') this.#ids.add(inner);
      else if (
        (name === 'stop_reason' || name === 'finishReason' || name === 'finish_reason') &&
        ACTIVE_KIND.test(inner)
      )
        this.activity ??= inner;
      return;
    }
    if (REMOVED.test(name) && isSomething(inner)) this.removed ??= name;
    if (ACTIVITY.test(name) && isSomething(inner)) this.activity ??= name;
    if (COUNT.test(name) && typeof inner === 'number') this.counted = Math.max(this.counted, inner);
    const isCallsOwn = name === 'input' && typeof about.fields.name === 'string';
    const isResult =
      typeof about.kind === 'string' && /result|output/i.test(about.kind) && /^(?:content|output)$/.test(name);
    if (!NOT_SAID.test(name) && !isCallsOwn && !isResult) this.look(inner, name, about.depth + 1);
  }

  /** A history that was summed up. Logs that are only added to still hold what came before: they name it. */
  #compacted(kind: string, fields: Readonly<Record<string, unknown>>): void {
    if (!COMPACTED.test(kind) || (kind === 'compacted' && this.#hasItems)) return;
    const before = [fields.firstKeptEntryId, fields.parentId].find((id) => typeof id === 'string');
    if (typeof before === 'string') this.#before.add(before);
    else this.removed ??= kind;
  }

  /** Spans say it in their names (`execute_tool X`), and in attributes, which OTLP writes as pairs. */
  #attribute(fields: Readonly<Record<string, unknown>>): void {
    const { name, key: attribute, value } = fields;
    const isSpan = 'spanId' in fields || 'span_id' in fields || 'context' in fields;
    if (isSpan && typeof name === 'string' && undecorated(name) !== name) this.#named(undecorated(name));
    if (typeof attribute !== 'string' || !isFields(value)) return;
    if (/(?:^|[._])tool[._]name$/i.test(attribute)) this.#named(value.stringValue);
    if (attribute === 'langsmith.span.kind' && value.stringValue === 'tool') this.activity ??= 'a tool span';
    if (attribute === 'gen_ai.tool.call.id') this.activity ??= attribute;
  }

  /** An item of a list of calls: a name, or an object with one. */
  #called(item: unknown): void {
    if (typeof item === 'string') this.#named(item);
    if (!isFields(item)) return;
    const inner = isFields(item.function) ? item.function : isFields(item.custom) ? item.custom : item;
    this.#named(inner.name ?? inner.tool_name ?? inner.toolName ?? inner.tool);
  }

  #named(name: unknown): void {
    if (typeof name === 'string' && name.length <= 200 && !isUnnamed(name) && !/[{}"\n]/.test(name))
      this.names.add(name);
  }
}

/** One sampling of a model, as the usage of a reply lists it. */
const isRound = (value: unknown): boolean => isFields(value) && typeof value.output_tokens === 'number';

const isSomething = (value: unknown): boolean =>
  typeof value === 'number'
    ? value > 0
    : Array.isArray(value)
      ? value.length > 0
      : isFields(value)
        ? Object.keys(value).length > 0
        : value === true;
