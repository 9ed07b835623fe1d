import type { Failure, Part, Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { textOf } from '../../build/answer.ts';
import type { Draft, DraftMessage } from '../../build/draft.ts';
import { timeSpan } from '../../build/time-span.ts';
import { fields, label, objects, pick, text, time } from '../../build/values.ts';

const USER = 'user';
const AGENT = 'agent';

/** One exchange with a remote agent: the request, the response, and the end of its task. */
export class A2aRun {
  taskId: string | undefined;
  readonly #steps: DraftMessage[] = [];
  readonly #asked: Part[][] = [];
  /** Artifact texts by id, joined from pieces. */
  readonly #artifacts = new Map<string, Part[]>();
  readonly #seen = new Set<string>();
  readonly #times: (number | undefined)[] = [];
  #state: string | undefined;
  #error: Failure | undefined;
  #lastWords: string | undefined;
  #context: string | undefined;

  /** Whether the agent waits for an answer of the user. */
  get isOpen(): boolean {
    return (
      this.#state === 'input-required' ||
      this.#state === 'auth-required' ||
      this.#state === 'working'
    );
  }

  ask(message: Fields): void {
    const content = partsOf(message.parts);
    this.#asked.push(content);
    // Earlier words of the agent do not answer this.
    this.#lastWords = undefined;
    this.#message({ from: USER, to: AGENT, content, type: 'request' }, message);
  }

  fail(error: Fields): void {
    const { code } = error;
    this.#error = {
      message: label(error.message),
      code: typeof code === 'number' || typeof code === 'string' ? code : undefined,
    };
  }

  answer(kind: 'message' | 'task' | 'status' | 'artifact', body: Fields): void {
    this.taskId ??= label(kind === 'task' ? body.id : body.taskId);
    this.#context ??= label(body.contextId);
    if (kind === 'message') this.#reply(body);
    if (kind === 'task') {
      for (const message of objects(body.history)) if (!isUser(message)) this.#reply(message);
      for (const artifact of objects(body.artifacts)) this.#artifact(artifact, false);
    }
    if (kind === 'artifact') this.#artifact(fields(body.artifact), body.append !== false);
    const status = fields(body.status);
    if (typeof status.state === 'string') this.#state = stateOf(status.state);
    this.#times.push(time(status.timestamp));
    if (isFields(status.message)) this.#reply(status.message);
  }

  draft(format: string): Draft {
    const artifacts = textOf({ parts: [...this.#artifacts.values()].flatMap(joined) });
    const said = artifacts ?? this.#lastWords;
    const [asked] = this.#asked;
    return {
      source: { format },
      steps: this.#steps,
      agents: [
        { id: USER, name: USER, kind: 'user' },
        { id: AGENT, name: AGENT, kind: 'remote' },
      ],
      ...timeSpan(this.#times),
      id: this.taskId,
      status: this.#status(),
      error: this.#error ?? this.#failure(),
      task: asked === undefined ? undefined : { input: [{ role: 'user', parts: asked }] },
      final: said === undefined ? undefined : { text: said, agent: AGENT },
      // The protocol hides the agent's internals: no tools, models or tokens.
      records: { messages: 'full', handoffs: 'none' },
      meta: { context: this.#context, state: this.#state },
    };
  }

  #reply(message: Fields): void {
    const id = label(message.messageId);
    if (id !== undefined && this.#seen.has(id)) return;
    const content = partsOf(message.parts);
    this.#lastWords = textOf({ parts: content }) ?? this.#lastWords;
    this.#message({ from: AGENT, to: USER, content, type: 'response' }, message);
  }

  #message(step: Pick<DraftMessage, 'from' | 'to' | 'content' | 'type'>, message: Fields): void {
    const id = label(message.messageId);
    if (id !== undefined) this.#seen.add(id);
    this.#context ??= label(message.contextId);
    this.#steps.push({ kind: 'message', status: 'ok', ...step });
  }

  #artifact(artifact: Fields, append: boolean): void {
    const id = label(pick(artifact, 'artifactId', 'name')) ?? '';
    const before = append ? (this.#artifacts.get(id) ?? []) : [];
    this.#artifacts.set(id, [...before, ...partsOf(artifact.parts)]);
  }

  #status(): Trace['status'] | undefined {
    if (this.#error !== undefined) return 'error';
    if (this.#state === undefined || this.#state === 'completed')
      return this.#steps.length > 1 || this.#state ? 'ok' : undefined;
    return this.#state === 'failed' || this.#state === 'rejected' ? 'error' : 'incomplete';
  }

  #failure(): Failure | undefined {
    if (this.#status() !== 'error') return undefined;
    return { type: this.#state, message: this.#lastWords };
  }
}

const isUser = ({ role }: Fields): boolean => role === 'user' || role === 'ROLE_USER';

/** `TASK_STATE_INPUT_REQUIRED` of v1 is `input-required` of v0.3. */
const stateOf = (state: string): string =>
  state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
    .slice(0, 64);

/** Joins streamed pieces of one text. */
function joined(parts: readonly Part[]): Part[] {
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return words.length === 0 ? [...parts] : [{ type: 'text', text: words.join('') }];
}

function partsOf(value: unknown): Part[] {
  return objects(value).flatMap((part): Part[] => {
    const said = text(part.text);
    if (said !== undefined) return [{ type: 'text', text: said }];
    if (part.data !== undefined) return [{ type: 'json', data: part.data }];
    const file = fields(part.file);
    const mime = label(pick(part, 'mediaType') ?? pick(file, 'mimeType', 'mediaType'));
    const uri = label(part.url ?? file.uri);
    const kind = mime?.split('/')[0];
    const modality = kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
    return [{ type: 'media', modality, mime, uri }];
  });
}
