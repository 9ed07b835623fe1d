import { finishOf, isFields, isUnnamed } from '@agentci/trace';
import { undecorated } from '../build/span-name.ts';
import { eventsIn } from '../containers/events.ts';
import { KEY, keyBits } from './hint-keys.ts';
import {
  asNumber,
  asWord,
  hasHole,
  hasResult,
  hasRun,
  isCutBefore,
  isDefinition,
  isRound,
  isSomething,
  isUnaccounted,
  isUsed,
  RESULT_KIND,
} from './hint-shapes.ts';
import { StreamHoles } from './stream-holes.ts';
import { calledBy, isAnswering, writtenCalls, writtenResult } from './written-calls.ts';

type Fields = Readonly<Record<string, unknown>>;

const MAX_NODES = 200_000;
const MAX_DEPTH = 40;
const MAX_SAID = 100_000;
const MAX_STREAM = 4_000_000;

/** Types of blocks, items and events that are a call, a part of one, or its end. */
const CALL_KIND =
  /^(?:server_|mcp_|local_|custom_)?(?:tool|function|shell|computer|apply_patch)_?-?(?:use|call|progress|result|response|start|end)(?:_begin|_end)?$/i;
const TOOL_KIND = /^tools?$/i;
const ACTIVE_KIND =
  /^(?:CodeExecutionEvent|agent_progress|tool_progress|url_citation|file_citation|container_file_citation|mcp_approval_request|item_reference|pause_turn|MALFORMED_FUNCTION_CALL|web_search_result_location|(?:bash_)?code_execution_(?:tool_)?result|bash_code_execution_tool_result|exec_command_(?:begin|end)|mcp_tool_call_(?:begin|end)|patch_apply_(?:begin|end)|web_search_(?:begin|end))$/;
/** Codex items that are calls, under the calls' ids. */
const RAN_ITEM = /^(?:CommandExecution|McpToolCall|FileChange|DynamicToolCall|CollabToolCall)$/;
/** Roles of tool results that their readers know by other words. */
const TOOL_ROLE =
  /^(?:tool[-_ ]?(?:calls?|use|results?|responses?|outputs?)|function[-_ ]?(?:call|result|response|output)|ipython|observation|environment|event|computer|api|plugin|execut(?:e|or|ion)|code_interpreter|terminal|shell|console|sandbox|retriever)$/i;
const COMPACTED = /^(?:context_|conversation_)?compact(?:ion|ed)(?:[_-]\w{1,40})?$/i;
/** Who shows a model how to write a call, and writes none. */
const ASKING = /^(?:system|developer|user|human)$/i;
const ANSWERING = /^(?:assistant|model|ai|gemini|agent)$/i;

/** Collects signs of tool calls in raw records. */
export class HintScan {
  readonly names = new Set<string>();
  /** Ids of calls that are spoken of. */
  readonly callIds = new Set<string>();
  /** Ids that only a call can have. */
  readonly ranIds = new Set<string>();
  /** Ids of calls, messages and events that are there. */
  readonly ids = new Set<string>();
  /** The largest number of calls, and of rounds with the model, that is counted anywhere. */
  counted = 0;
  /** Results without their call next to them. */
  results = 0;
  rounds = 0;
  /** The first sign that something ran. */
  activity: string | undefined;
  /** The first sign of a call if no call is shown. */
  wanted: string | undefined;
  /** The first sign that parts of the history were taken out, summed up or lost. */
  removed: string | undefined;
  readonly #before = new Set<string>();
  readonly #holes = new StreamHoles();
  #nodes = 0;
  #hasItems = false;
  #isAsked = false;
  #hasReplied = false;
  #lastUsage = 0;
  #totalUsage = 0;

  /** Scans one record. */
  record(value: unknown): void {
    this.#holes.lane(value);
    this.#look(value, 0, 0);
  }

  /** A message that others continue from and that is not here. */
  get absentReply(): string | undefined {
    for (const id of this.#before) if (!this.ids.has(id)) return id;
    return undefined;
  }

  /** Items removed or lost from the history. */
  get lost(): string | undefined {
    if (this.#totalUsage > this.#lastUsage) this.removed ??= 'tokens of earlier replies';
    return this.removed ?? this.#holes.lost;
  }

  get isQuiet(): boolean {
    return (
      this.names.size +
        this.callIds.size +
        this.ranIds.size +
        this.counted +
        this.rounds +
        this.results ===
        0 &&
      [this.activity, this.wanted, this.absentReply, this.lost].every((sign) => sign === undefined)
    );
  }

  #look(value: unknown, at: number, depth: number): void {
    if (
      typeof value !== 'object' ||
      value === null ||
      depth > MAX_DEPTH ||
      ++this.#nodes > MAX_NODES
    )
      return;
    if (Array.isArray(value)) {
      if (hasHole(value)) this.removed ??= 'a step whose number is missing';
      for (const item of value) {
        if (at & KEY.calls) this.#called(item);
        this.#look(item, at, depth + 1);
      }
      return;
    }
    const fields = value as Fields;
    const isAsked = this.#isAsked;
    const speaker = fields.role ?? fields.source ?? fields.author;
    if (typeof speaker === 'string') this.#speaks(speaker, fields);
    this.#lookInside(fields, at, depth);
    this.#isAsked = isAsked;
  }

  #speaks(speaker: string, fields: Fields): void {
    this.#isAsked = ASKING.test(speaker);
    if (ANSWERING.test(speaker)) this.#hasReplied = true;
    if (fields.role !== speaker || !TOOL_ROLE.test(speaker)) return;
    if (typeof fields.name === 'string') this.#named(fields.name);
    this.wanted ??= `a message of ${JSON.stringify(speaker)}`;
  }

  #lookInside(fields: Fields, at: number, depth: number): void {
    if (at & KEY.calls) this.#called(fields);
    const kind = fields.type ?? fields.kind;
    this.#attribute(fields);
    this.#kinds(fields, kind);
    this.#holes.see(fields, kind);
    this.#shape(fields);
    this.#numbers(fields);
    for (const name in fields) this.#member(name, fields[name], fields, kind, depth);
  }

  #kinds(fields: Fields, kind: unknown): void {
    if (fields.event === 'on_tool_start') this.#named(fields.name);
    if (typeof fields.subtype === 'string' && ACTIVE_KIND.test(fields.subtype))
      this.activity ??= fields.subtype;
    const span = fields.span_kind ?? fields.spanKind ?? fields.span_type ?? kind;
    if (typeof span === 'string' && TOOL_KIND.test(span)) this.#named(fields.name);
    if (typeof kind !== 'string') return;
    if (kind === 'response_item') this.#hasItems = true;
    this.#compacted(kind, fields);
    if (ACTIVE_KIND.test(kind)) this.activity ??= kind;
    if (RAN_ITEM.test(kind) && typeof fields.id === 'string') this.ranIds.add(fields.id);
    if (CALL_KIND.test(kind)) {
      const inner = isFields(fields.payload) ? fields.payload : fields;
      this.#named(inner.name ?? inner.tool_name ?? inner.toolName ?? fields.name);
    }
    if (
      kind.startsWith('response.') &&
      kind.includes('_call') &&
      typeof fields.item_id === 'string'
    )
      this.callIds.add(fields.item_id);
  }

  /** Objects shaped like a call, or like something that only a call leaves. */
  #shape(fields: Fields): void {
    const { name, tool, action, arguments: given, invocation, message } = fields;
    if (typeof name === 'string' && 'arguments' in fields) this.#named(calledBy(fields));
    if (typeof action === 'string' && isFields(given)) this.#named(action);
    if (typeof tool === 'string') this.#named(tool);
    else if (isFields(tool) && !isDefinition(tool)) this.#named(tool.name);
    if (isFields(invocation)) this.#named(invocation.name ?? invocation.tool);
    const given_back = fields.toolUseResult ?? fields.tool_use_result;
    if (
      given_back !== undefined &&
      given_back !== null &&
      isFields(message) &&
      !hasResult(message.content)
    )
      this.results++;
    const { attempts } = fields;
    if (
      Array.isArray(attempts) &&
      attempts.filter((each) => isFields(each) && 'trajectory' in each).length > 1
    )
      this.removed ??= 'attempts';
    const { args, observation } = fields;
    if (isFields(args) && Array.isArray(args.forgotten_event_ids))
      for (const id of args.forgotten_event_ids) this.#before.add(asWord(id));
    if (isFields(observation) && Array.isArray(observation.results))
      this.#subAgents(observation.results);
  }

  /** Sub-agent runs in separate files. */
  #subAgents(results: readonly unknown[]): void {
    for (const result of results) {
      const refs = isFields(result) ? result.subagent_trajectory_ref : undefined;
      for (const ref of Array.isArray(refs) ? refs : [refs]) {
        const id = isFields(ref) ? (ref.trajectory_id ?? ref.session_id) : undefined;
        if (typeof id === 'string') this.#before.add(id);
      }
    }
  }

  /** Numbers that contradict their surroundings. */
  #numbers(fields: Fields): void {
    const { container, iterations, tokens, steps, final_metrics, compaction, usage } = fields;
    // A container means that the provider ran code; more than one round means a tool in between.
    if (isFields(container) && typeof container.expires_at === 'string')
      this.activity ??= 'container';
    if (Array.isArray(iterations) && iterations.filter(isRound).length > 1)
      this.activity ??= 'iterations';
    if (isFields(tokens) && isSomething(tokens.tool)) this.activity ??= 'tokens.tool';
    if (
      isFields(final_metrics) &&
      Array.isArray(steps) &&
      asNumber(final_metrics.total_steps) > steps.length
    )
      this.removed ??= `total_steps: ${asNumber(final_metrics.total_steps)}`;
    if (isFields(fields.last_token_usage))
      this.#lastUsage += asNumber(fields.last_token_usage.total_tokens) || 0;
    if (isFields(fields.total_token_usage))
      this.#totalUsage = Math.max(
        this.#totalUsage,
        asNumber(fields.total_token_usage.total_tokens) || 0,
      );
    if (isFields(usage) && isUnaccounted(usage))
      this.removed ??= `total_tokens: ${asNumber(usage.total_tokens)}`;
    if (
      fields.object === 'response' &&
      fields.status === 'incomplete' &&
      !isFields(fields.incomplete_details)
    )
      this.removed ??= 'status: incomplete';
    const { events } = fields;
    if (compaction === undefined && !Array.isArray(events)) return;
    if (Array.isArray(events) && isCutBefore(events)) this.removed ??= 'compaction';
  }

  #member(name: string, inner: unknown, fields: Fields, kind: unknown, depth: number): void {
    const bits = keyBits(name);
    if (typeof inner === 'string') {
      this.#text(name, bits, inner, fields);
      return;
    }
    if (bits !== 0) this.#marked(name, bits, inner, fields);
    if (typeof inner !== 'object' || inner === null) return;
    const isCallsOwn = name === 'input' && typeof fields.name === 'string';
    const isResult =
      typeof kind === 'string' &&
      RESULT_KIND.test(kind) &&
      (name === 'content' || name === 'output');
    if (bits & KEY.tools && isFields(inner)) this.#tallied(inner);
    const isPlan = name === 'task' && isFields(inner) && 'actions' in inner;
    if (!(bits & KEY.skipped) && !isCallsOwn && !isResult && !isPlan)
      this.#look(inner, bits, depth + 1);
  }

  #text(name: string, bits: number, text: string, fields: Fields): void {
    if (text.startsWith('event:') || text.startsWith('data:')) this.#streamed(text);
    else if (bits & KEY.said) this.#said(text);
    else if (bits === 0) {
      const hooked =
        name === 'hook_name' || name === 'hookName' ? HOOKED.exec(text)?.[1] : undefined;
      if (hooked !== undefined) this.#named(hooked);
      else if (PROVIDER_ID.test(text)) this.callIds.add(text);
    } else if (bits & KEY.name) this.#named(text);
    else if (bits & KEY.before) this.#before.add(text);
    else if (bits & KEY.id) this.ids.add(text);
    else if (bits & KEY.callId) this.#callId(name, text, fields);
    else if (bits & KEY.finish) this.#finish(text);
    else if (bits & KEY.label) {
      const labelled = LABELLED.exec(text)?.[1];
      if (labelled !== undefined) this.#named(labelled);
    }
  }

  #marked(name: string, bits: number, inner: unknown, fields: Fields): void {
    if (bits & KEY.removed && isSomething(inner)) this.removed ??= name;
    if (bits & KEY.activity && isUsed(inner)) this.activity ??= name;
    if (bits & KEY.wanted && isUsed(inner)) this.wanted ??= name;
    if (bits & KEY.count && typeof inner === 'number') this.counted = Math.max(this.counted, inner);
    if (bits & KEY.rounds)
      this.rounds = Math.max(
        this.rounds,
        Array.isArray(inner) ? inner.length : asNumber(inner) || 0,
      );
    if (bits & KEY.id && typeof inner === 'number') this.ids.add(asWord(inner));
    if (bits & KEY.finish && Array.isArray(inner))
      for (const item of inner) if (typeof item === 'string') this.#finish(item);
    // Some SDKs keep the provider's stop reason next to their own.
    if (bits & KEY.finish && isFields(inner))
      for (const word of Object.values(inner)) if (typeof word === 'string') this.#finish(word);
    if (bits & KEY.byTool && isFields(inner))
      for (const tool in inner) if (isUsed(inner[tool])) this.#named(tool);
    if (bits & KEY.tools && Array.isArray(inner))
      for (const item of inner) if (hasRun(item)) this.#called(item);
    if (bits & (KEY.before | KEY.callId) && Array.isArray(inner))
      for (const item of inner)
        if (typeof item === 'string' || typeof item === 'number')
          if (bits & KEY.before) this.#before.add(asWord(item));
          else this.#callId(name, asWord(item), fields);
  }

  /** Tool statistics, as opposed to a list of definitions. */
  #tallied({ byName, totalCalls }: Fields): void {
    if (typeof totalCalls === 'number') this.counted = Math.max(this.counted, totalCalls);
    if (isFields(byName)) for (const tool in byName) if (isUsed(byName[tool])) this.#named(tool);
  }

  #callId(name: string, id: string, fields: Fields): void {
    if (id === '') return;
    // An object with a tool name next to the id is the call, which its result references.
    const called =
      fields.toolName ??
      fields.tool_name ??
      fields.toolCallName ??
      fields.function_name ??
      fields.name;
    const isDefined =
      typeof called === 'string' &&
      fields.role === undefined &&
      !/result|output/i.test(asWord(fields.type));
    const isItem = typeof fields.id === 'string' && asWord(fields.type).endsWith('_call');
    // A model call may have such an id too, and an event states its type.
    if (/^call_?ids?$/i.test(name) && typeof (fields.type ?? fields.kind) !== 'string') return;
    if ((isDefined || isItem) && !/parent|preceding|source/i.test(name)) this.ids.add(id);
    // Claude Code uses this name for ids of hooks and progress.
    else if (name !== 'toolUseID' || /^(?:srv)?toolu_|^call_/.test(id)) this.callIds.add(id);
  }

  /** Why a reply ended: as a word, or as a list that was printed. */
  #finish(text: string): void {
    const words = /^\s*\[/.test(text) ? text.split(/["'[\],\s]+/) : [text];
    if (words.some((word) => finishOf(word) === 'tool_calls' || ASKS_TOOL.test(word)))
      this.wanted ??= `the finish reason ${JSON.stringify(text.slice(0, 60))}`;
    if (ACTIVE_KIND.test(text)) this.activity ??= text;
  }

  #said(text: string): void {
    if (text.includes('<tool-use-id>'))
      for (const [, id] of text
        .slice(0, MAX_SAID)
        .matchAll(/<task-notification>[\s\S]{0,2000}?<tool-use-id>([^<\s]{1,200})</g))
        this.callIds.add(id!);
    if (this.#isAsked) {
      const result = this.#hasReplied ? writtenResult(text) : undefined;
      if (result === undefined) return;
      if (result.name !== undefined && !isAnswering(result.name)) this.#named(result.name);
      this.wanted ??= 'the result of a tool written as text';
      return;
    }
    for (const name of writtenCalls(text))
      if (name === undefined) this.activity ??= 'a call written as text';
      else if (!isAnswering(name)) this.#named(name);
  }

  /** A stream that was kept as the text of a body. */
  #streamed(text: string): void {
    if (text.length <= MAX_STREAM)
      for (const { value } of eventsIn(text).records) this.#look(value, 0, 1);
  }

  /** A summarized history. Append-only logs still contain the earlier part, and name it. */
  #compacted(kind: string, fields: Fields): void {
    if (!COMPACTED.test(kind) || (kind === 'compacted' && this.#hasItems)) return;
    const before = [fields.firstKeptEntryId, fields.parentId].find((id) => typeof id === 'string');
    if (typeof before === 'string') this.#before.add(before);
    else this.removed ??= kind;
  }

  /** Spans show it in names (`execute_tool X`) and in attributes, which OTLP writes as pairs. */
  #attribute(fields: Fields): void {
    const { name, key: attribute, value } = fields;
    const isSpan = 'spanId' in fields || 'span_id' in fields || 'context' in fields;
    if (isSpan && typeof name === 'string' && undecorated(name) !== name)
      this.#named(undecorated(name));
    if (typeof attribute !== 'string' || !isFields(value)) return;
    if (/(?:^|[._])tool[._]name$/i.test(attribute)) this.#named(value.stringValue);
    if (attribute === 'langsmith.span.kind' && value.stringValue === 'tool')
      this.wanted ??= 'a tool span';
    if (attribute === 'gen_ai.tool.call.id' && typeof value.stringValue === 'string')
      this.ranIds.add(value.stringValue);
  }

  /** An item of a list of calls: a name, or an object with one. */
  #called(item: unknown): void {
    if (typeof item === 'string') this.#named(item.replace(/\(.*$/s, ''));
    else if (item === null) this.activity ??= 'a call that is null';
    if (!isFields(item)) return;
    const inner = [item.function, item.custom, item.call].find(isFields) ?? item;
    this.#named(inner.name ?? inner.tool_name ?? inner.toolName ?? inner.tool);
  }

  #named(name: unknown): void {
    if (typeof name === 'string' && name.length <= 200 && !isUnnamed(name) && !/[{}"\n]/.test(name))
      this.names.add(name);
  }
}

/** Other spellings of an ending that asks for a tool. */
const ASKS_TOOL = /(?:^|[._])(?:tool|function)[-_ ]?(?:calls?|uses?)$/i;
/** Provider call ids, wherever they occur. */
const PROVIDER_ID = /^(?:(?:srv)?toolu_\w{1,60}|call_\w{16,60})$/;
const HOOKED = /^(?:Pre|Post)ToolUse:(.+)$/;
const LABELLED = /^(?:execute_tool|call_tool|running tool|tool): ?(\S.*)$/i;
