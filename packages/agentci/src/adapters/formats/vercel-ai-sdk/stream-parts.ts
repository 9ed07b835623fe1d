import { type Fields, isFields } from '../../../trace/fields.ts';
import { contentOf, UNNAMED } from '../../build/blocks.ts';
import type { Reply } from '../../build/conversation.ts';
import { defined } from '../../build/defined.ts';
import type { Call, GapNote, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { usageOf } from '../../build/token-usage.ts';
import { argumentsOf, fields, label, pick, text } from '../../build/values.ts';

const TYPES =
  /^(?:start|start-step|finish-step|finish|abort|error|message-metadata|(?:text|reasoning)-(?:start|delta|end)|tool-input-(?:start|delta|available|error|end)|tool-output-(?:available|error|denied)|tool-approval-request|tool-call|tool-result|tool-error|source|source-(?:url|document)|file|raw|data-[\w-]+)$/;

/** A part of a stream of the SDK: of its interface (`tool-input-available`), or of the whole stream (`tool-call`). */
export const isStreamPart = (value: unknown): boolean =>
  isFields(value) && typeof value.type === 'string' && TYPES.test(value.type) && !('role' in value) && hasShape(value);

/** Some of these words are used by others: those parts must look like the SDK's own. */
function hasShape(part: Fields): boolean {
  const type = label(part.type) ?? '';
  if (/^(?:text|reasoning)-/.test(type)) return 'id' in part || 'delta' in part || 'text' in part;
  if (type.startsWith('tool-')) return typeof part.toolCallId === 'string';
  if (type === 'error') return 'errorText' in part || 'error' in part;
  return type !== 'file' && type !== 'source' && type !== 'raw' ? true : !('content' in part);
}

/** Parts that no other stream has. */
export const isTellingPart = (value: unknown): boolean =>
  isStreamPart(value) &&
  /^(?:start-step|finish-step|tool-(?:input|output)-|(?:text|reasoning)-(?:start|end))/.test(
    label(fields(value).type) ?? '',
  );

interface Joined {
  readonly turns: readonly Turn[];
  readonly replies: ReadonlyMap<Turn, Reply>;
  readonly gaps: readonly GapNote[];
  readonly id?: string;
  readonly failure?: string;
}

interface OpenCall {
  name: string | undefined;
  json: string;
  input: unknown;
  isProviders: boolean;
}

/** A stream put together: each step is a reply, with what its tools gave. */
export function joinParts(parts: readonly Fields[]): Joined {
  const run = new StreamRun();
  for (const part of parts) run.add(part);
  return run.end();
}

class StreamRun {
  readonly #turns: Turn[] = [];
  readonly #replies = new Map<Turn, Reply>();
  readonly #gaps: GapNote[] = [];
  #texts: { type: 'text' | 'reasoning'; text: string }[] = [];
  #calls = new Map<string, OpenCall>();
  #results: Turn[] = [];
  #reply: Reply = {};
  #isOver = false;
  #id: string | undefined;
  #failure: string | undefined;

  add(part: Fields): void {
    const type = label(part.type) ?? '';
    const id = label(part.toolCallId) ?? '';
    const said = /^(text|reasoning)-(start|delta)$/.exec(type);
    if (said !== null) this.#say(said[1] as 'text' | 'reasoning', said[2]!, text(pick(part, 'delta', 'text')) ?? '');
    else if (type === 'tool-input-delta')
      this.#call(id, part).json += text(pick(part, 'inputTextDelta', 'delta')) ?? '';
    else if (/^tool-(?:input-(?:start|available|error)|call)$/.test(type)) {
      // A step that only brings results has its calls in the step before.
      this.#call(id, part).input ??= part.input;
      if (type === 'tool-input-error')
        this.#results.push(...resultsOf({ ...part, type: 'tool-error', error: part.errorText }));
    } else if (/^tool-(?:output-(?:available|error)|result|error)$/.test(type)) this.#result(part, type);
    else if (type === 'tool-output-denied')
      this.#results.push({ role: 'tool', parts: [], callId: id, status: 'denied' });
    else if (type === 'start-step') this.#close();
    else if (type === 'finish-step') this.#finish(part);
    else if (type === 'start') this.#id = label(part.messageId);
    else if (type === 'finish' || type === 'abort') this.#isOver = type === 'finish';
    else if (type === 'error') this.#failure = text(part.errorText) ?? text(part.error) ?? 'the stream failed';
    else if (!isStreamPart(part)) this.#gaps.push({ gap: 'unknownBlock', detail: type.slice(0, 80) });
  }

  end(): Joined {
    this.#close();
    if (!this.#isOver) this.#gaps.push({ gap: 'cutOff', detail: 'no finish part' });
    return {
      turns: this.#turns,
      replies: this.#replies,
      gaps: this.#gaps,
      ...defined({ id: this.#id, failure: this.#failure }),
    };
  }

  #say(type: 'text' | 'reasoning', kind: string, piece: string): void {
    const last = this.#texts.at(-1);
    if (kind === 'delta' && last?.type === type) last.text += piece;
    else if (kind === 'delta' || piece !== '') this.#texts.push({ type, text: piece });
  }

  #call(id: string, part: Fields): OpenCall {
    const open = this.#calls.get(id) ?? { name: undefined, json: '', input: undefined, isProviders: false };
    open.name ??= label(part.toolName);
    open.isProviders ||= part.providerExecuted === true;
    this.#calls.set(id, open);
    return open;
  }

  #result(part: Fields, type: string): void {
    const failed = type === 'tool-output-error' || type === 'tool-error';
    const error = pick(part, 'errorText', 'error');
    this.#results.push(
      ...resultsOf(failed ? { ...part, type: 'tool-error', error } : { ...part, type: 'tool-result' }),
    );
  }

  #finish(part: Fields): void {
    const response = fields(part.response);
    this.#reply = defined({
      usage: usageOf(part.usage),
      finish: finishOf(part.finishReason),
      model: label(response.modelId),
      responseId: label(response.id),
    });
    this.#close();
  }

  #close(): void {
    const calls = [...this.#calls].map(
      ([id, { name, json, input, isProviders }]): Call => ({
        id,
        name: name ?? UNNAMED,
        ...argumentsOf(input ?? (json === '' ? undefined : json)),
        ...defined({ by: isProviders ? ('provider' as const) : undefined }),
      }),
    );
    const parts = this.#texts.filter(({ text: words }) => words !== '');
    if (calls.length > 0 || parts.length > 0) {
      const turn: Turn = { role: 'assistant', parts, ...(calls.length === 0 ? {} : { calls }) };
      this.#turns.push(turn);
      this.#replies.set(turn, this.#reply);
    }
    this.#turns.push(...this.#results);
    [this.#texts, this.#results, this.#reply] = [[], [], {}];
    this.#calls = new Map();
  }
}

const resultsOf = (part: Fields): Turn[] => contentOf([part]).results;
