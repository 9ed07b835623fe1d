import type { Failure, Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { contentOf } from '../../build/blocks.ts';
import { Dialogue, extend, type OpenReply } from '../../build/dialogue.ts';
import type { Call, Draft, DraftTool } from '../../build/draft.ts';
import { turnOfText } from '../../build/messages.ts';
import { fields, label, objects, pick, resultOf, text } from '../../build/values.ts';

type OpenTool = { -readonly [K in keyof DraftTool]: DraftTool[K] };
type OpenCall = { -readonly [K in keyof Call]: Call[K] };

const STATUS: Readonly<Record<string, DraftTool['status']>> = {
  pending: 'pending',
  in_progress: 'pending',
  completed: 'ok',
  failed: 'error',
};

/** One prompt and its outcome. */
export class AcpRun {
  readonly #dialogue = new Dialogue();
  readonly #tools = new Map<string, OpenTool>();
  readonly #session: string;
  #open: OpenReply | undefined;
  #reason: string | undefined;
  #error: Failure | undefined;
  #count = 0;
  /** Calls of which only the kind is known, with the message that asked for them. */
  readonly #bare = new Map<OpenTool, OpenCall>();
  readonly #kinds = new Map<OpenTool, string | undefined>();
  /** Calls that the agent asked to be allowed and that nothing else has mentioned yet. */
  readonly #wanted = new Map<string, Fields>();

  constructor(session: string) {
    this.#session = session;
  }

  ask(prompt: unknown): void {
    this.#dialogue.hear({ role: 'user', parts: contentOf(prompt).parts });
  }

  end(response: Fields): void {
    this.#reason = label(fields(response.result).stopReason);
    if (isFields(response.error)) this.#error = { message: label(response.error.message) };
  }

  update(update: Fields): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk':
        this.#chunk(update);
        break;
      case 'user_message_chunk':
        this.#dialogue.hear({ role: 'user', parts: contentOf(update.content).parts });
        break;
      case 'tool_call':
      case 'tool_call_update':
        this.#tool(update);
        break;
      case 'plan':
        this.#dialogue.add({ kind: 'event', name: 'plan', data: objects(update.entries) });
        break;
      default:
        break;
    }
  }

  /** The agent requests permission for an action. */
  want(params: Fields): void {
    const call = fields(params.toolCall);
    const id = label(call.toolCallId);
    if (id !== undefined && !this.#tools.has(id)) this.#wanted.set(id, call);
  }

  /** The user's decision. */
  permit(params: Fields, result: Fields): void {
    const id = label(fields(params.toolCall).toolCallId) ?? '';
    this.#showWanted(id);
    const tool = this.#tools.get(id);
    const outcome = fields(result.outcome);
    if (tool === undefined) return;
    if (outcome.outcome === 'cancelled') tool.status = 'cancelled';
    const chosen = objects(params.options).find(({ optionId }) => optionId === outcome.optionId);
    if (outcome.outcome === 'selected' && label(chosen?.kind)?.startsWith('reject') === true)
      tool.status = 'denied';
  }

  /**
   * An action that the editor performs: running a command, reading or writing a file. It belongs to
   * an open call, or is one.
   */
  act(kind: 'execute' | 'edit' | 'read', params: Fields): void {
    for (const id of [...this.#wanted.keys()]) this.#showWanted(id);
    const { sessionId: _, content: __, ...rawInput } = params;
    const isPart = [...this.#tools.values()].some(
      (tool) =>
        !isEnded(tool) && !(kind === 'execute' && HARMLESS.has(this.#kinds.get(tool) ?? '')),
    );
    if (!isPart)
      this.#tool({
        sessionUpdate: 'tool_call',
        toolCallId: `${kind} ${++this.#count}`,
        kind,
        rawInput,
      });
  }

  #showWanted(id: string): void {
    const call = this.#wanted.get(id);
    this.#wanted.delete(id);
    if (call !== undefined && !this.#tools.has(id)) this.#tool({ status: 'pending', ...call });
  }

  draft(format: string): Draft {
    for (const id of [...this.#wanted.keys()]) this.#showWanted(id);
    return {
      source: { format },
      steps: this.#dialogue.steps,
      turns: this.#dialogue.turns,
      status: this.#status(),
      error: this.#error,
      // The protocol has a kind and a title. If the tool's own name is missing, names are not
      // captured.
      records: {
        toolCalls: this.#bare.size > 0 ? 'partial' : 'full',
        toolArgs: 'full',
        toolResults: 'full',
        toolErrors: 'full',
        prompts: 'full',
      },
      meta: {
        session: this.#session === '' ? undefined : this.#session,
        stop_reason: this.#reason,
      },
    };
  }

  #status(): Trace['status'] | undefined {
    if (this.#error !== undefined) return 'error';
    return this.#reason === 'end_turn' || this.#reason === 'refusal' ? undefined : 'incomplete';
  }

  #chunk(update: Fields): void {
    const said = text(fields(update.content).text) ?? '';
    const type =
      update.sessionUpdate === 'agent_thought_chunk' ? ('reasoning' as const) : ('text' as const);
    // Words after a call are another reply.
    if (this.#open === undefined || this.#open.output.calls !== undefined)
      this.#open = this.#dialogue.reply(turnOfText('assistant', ''));
    const parts = [...this.#open.output.parts];
    const last = parts.at(-1);
    if (last !== undefined && last.type === type)
      parts[parts.length - 1] = { type, text: last.text + said };
    else parts.push({ type, text: said });
    this.#open.output.parts = parts;
  }

  #tool(update: Fields): void {
    const id = label(update.toolCallId);
    if (id === undefined) return;
    const known = this.#tools.get(id);
    const isNew = known === undefined || (update.sessionUpdate === 'tool_call' && isEnded(known));
    this.#wanted.delete(id);
    const tool = isNew ? this.#newTool(id, update) : known;
    const own = toolName(update);
    const asked = this.#bare.get(tool);
    if (own !== undefined && asked !== undefined) {
      tool.name = asked.name = own;
      this.#bare.delete(tool);
    }
    const status =
      typeof update.status === 'string' && Object.hasOwn(STATUS, update.status)
        ? STATUS[update.status]
        : undefined;
    if (status !== undefined && tool.status !== 'denied' && tool.status !== 'cancelled')
      tool.status = status;
    if (update.rawInput !== undefined && update.rawInput !== null) tool.args = update.rawInput;
    const result = pick(update, 'rawOutput') ?? contentText(update.content);
    if (result !== undefined) tool.result = resultOf(result);
    if (tool.status === 'error')
      tool.error = {
        message: typeof tool.result === 'string' ? tool.result : JSON.stringify(tool.result ?? ''),
      };
  }

  #newTool(id: string, update: Fields): OpenTool {
    const own = toolName(update);
    const name = own ?? label(update.kind) ?? 'other';
    // A reused id gets a suffix, because two steps with one id would be folded.
    const callId = this.#tools.has(id) ? `${id}#${++this.#count}` : id;
    const tool: OpenTool = { kind: 'tool', name, callId, meta: titleOf(update) };
    this.#tools.set(id, tool);
    this.#open ??= this.#dialogue.reply(turnOfText('assistant', ''));
    const call: OpenCall = { id: callId, name };
    extend(this.#open, { parts: [], calls: [call] });
    this.#dialogue.add(tool);
    this.#kinds.set(tool, label(update.kind));
    if (own === undefined) this.#bare.set(tool, call);
    return tool;
  }
}

const toolName = (update: Fields): string | undefined =>
  label(fields(fields(update._meta).claudeCode).toolName);

/** Kinds of calls that run no command. */
const HARMLESS = new Set(['read', 'edit', 'search', 'fetch', 'think']);

const isEnded = ({ status }: OpenTool): boolean => status !== undefined && status !== 'pending';

const titleOf = (update: Fields): Record<string, unknown> | undefined => {
  const title = label(update.title);
  return title === undefined ? undefined : { title };
};

/** Content has envelopes: `{type: "content", content: {type: "text"}}`, diffs, terminals. */
function contentText(content: unknown): unknown {
  const items = objects(content);
  if (items.length === 0) return undefined;
  const words = items.flatMap((item) => text(fields(item.content).text) ?? []);
  return words.length === items.length ? words.join('\n') : items;
}
