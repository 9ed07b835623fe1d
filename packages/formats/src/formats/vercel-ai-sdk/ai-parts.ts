import { type Fields, isFields } from '@agentci/trace';
import { dataStreamPart } from '../../build/data-stream-part.ts';

export { dataStreamPart };

/**
 * Joins the AI SDK's stream to the steps of a run. The same parts come from `fullStream`, as UI
 * message stream events, and under one-letter names in the version 4 data stream.
 */
export class AiParts {
  readonly #steps: Step[] = [];
  #content: Fields[] = [];
  readonly #texts = new Map<string, { readonly type: string; text: string }>();
  #finish: unknown;
  #usage: unknown;
  #response: unknown;
  isFinished = false;
  isAborted = false;
  error: unknown;

  static knows(value: unknown): boolean {
    return isFields(value) && typeof value.type === 'string' && KNOWN.test(value.type);
  }

  add(part: Fields): void {
    const { type } = part;
    if (type === 'text-delta') this.#say('text', part);
    else if (type === 'reasoning-delta' || type === 'reasoning') this.#say('reasoning', part);
    else if (type === 'tool-call' || type === 'tool-input-available') this.#call(part);
    else if (type === 'tool-result' || type === 'tool-output-available') this.#result(part);
    else if (type === 'tool-output-denied')
      this.#result({
        ...part,
        output: { type: 'execution-denied', value: part.reason ?? 'denied' },
      });
    else if (type === 'tool-error' || type === 'tool-output-error' || type === 'tool-input-error')
      this.#failed(part);
    else if (type === 'finish-step' || type === 'step-finish') this.#close(part);
    // A step without an end event ends at the next start.
    else if (type === 'start-step' && this.#content.length > 0) this.#close({});
    else if (type === 'finish') {
      this.isFinished = true;
      this.#finish = part.finishReason ?? this.#finish;
      this.#usage = part.totalUsage ?? part.usage ?? this.#usage;
    } else if (type === 'abort') this.isAborted = true;
    else if (type === 'error') this.error = part.error ?? part.errorText ?? 'no reason given';
  }

  /** Whether a part is the first visible output. */
  static isContent = ({ type }: Fields): boolean =>
    type === 'text-delta' || type === 'tool-call' || type === 'tool-input-available';

  steps(): readonly Fields[] {
    const isOpen = this.#content.length > 0 || this.#steps.length === 0;
    if (isOpen) this.#close({ finishReason: this.#finish, usage: this.#usage });
    const last = this.#steps.at(-1)!;
    // If the last step has no finish reason, the stream's end has it.
    if (last.finishReason === UNSAID && typeof this.#finish === 'string')
      last.finishReason = this.#finish;
    return this.#steps;
  }

  /** Pieces of one text share its id. A piece without one continues the previous text. */
  #say(type: 'text' | 'reasoning', part: Fields): void {
    const piece = part.delta ?? part.text ?? part.textDelta;
    if (typeof piece !== 'string') return;
    const key = `${type} ${typeof part.id === 'string' ? part.id : ''}`;
    let open = this.#texts.get(key);
    if (open === undefined) {
      open = { type, text: '' };
      this.#texts.set(key, open);
      this.#content.push(open);
    }
    open.text += piece;
  }

  #call({ toolCallId, toolName, input, args, providerExecuted }: Fields): void {
    this.#texts.clear();
    this.#content.push({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: input ?? args,
      providerExecuted,
    });
  }

  #result({ toolCallId, toolName, output, result }: Fields): void {
    this.#content.push({ type: 'tool-result', toolCallId, toolName, output: output ?? result });
  }

  #failed({ toolCallId, toolName, input, error, errorText, type }: Fields): void {
    if (type === 'tool-input-error') this.#call({ toolCallId, toolName, input });
    this.#content.push({ type: 'tool-error', toolCallId, toolName, error: errorText ?? error });
  }

  #close({ finishReason, usage, response }: Fields): void {
    this.#response = response ?? this.#response;
    this.#steps.push({
      content: this.#content,
      finishReason: typeof finishReason === 'string' ? finishReason : UNSAID,
      usage: isFields(usage) ? usage : {},
      response: isFields(this.#response) ? this.#response : {},
    });
    this.#content = [];
    this.#texts.clear();
    this.#response = undefined;
  }
}

interface Step extends Record<string, unknown> {
  finishReason: string;
}

const UNSAID = 'unknown';
const KNOWN =
  /^(?:start|finish|abort|error|start-step|finish-step|step-start|step-finish|message-metadata|raw|file|source|source-url|source-document|data-.+|(?:text|reasoning)-(?:start|delta|end)|tool-(?:call|result|error|input-.+|output-.+|approval-.+))$/;

/**
 * Whether a text is such a stream without a header: every line is a part, and one of them is
 * specific to it.
 */
export function isDataStreamText(text: string): boolean {
  if (!/^[0-9a-l]:["[{]/.test(text)) return false;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return (
    lines.length > 1 &&
    lines.every((line) => dataStreamPart(line) !== undefined) &&
    /^(?:0:"|[def]:\{)/m.test(text)
  );
}
