import { type Fields, isFields } from '@agentci/trace';
import { fields, objects, parseJson } from '../../build/values.ts';

interface OpenCall {
  readonly id: unknown;
  readonly index: number | undefined;
  name: string;
  arguments: string;
}

/** One choice of a streamed chat completion, joined from its deltas. */
export class StreamedChoice {
  #text = '';
  #refusal = '';
  #finish: unknown;
  readonly #calls: OpenCall[] = [];
  #legacy: OpenCall | undefined;

  add({ delta: given, text, finish_reason }: Fields): void {
    this.#finish = finish_reason ?? this.#finish;
    const delta = fields(given);
    // Text completions have no delta, and some servers repeat a piece in both places.
    if (typeof delta.content === 'string' && delta.content !== '') this.#text += delta.content;
    else if (typeof text === 'string') this.#text += text;
    if (typeof delta.refusal === 'string') this.#refusal += delta.refusal;
    for (const part of objects(delta.tool_calls)) grow(this.#callOf(part), fields(part.function));
    if (delta.function_call !== undefined && delta.function_call !== null) {
      this.#legacy ??= { id: undefined, index: undefined, name: '', arguments: '' };
      grow(this.#legacy, fields(delta.function_call));
    }
  }

  whole(): Fields {
    const tool_calls = this.#calls.map(({ id, name, arguments: args }) => ({
      id,
      function: { name, arguments: args },
    }));
    const legacy = this.#legacy === undefined ? {} : { function_call: { ...this.#legacy } };
    return {
      finish_reason: this.#finish,
      message: { content: this.#text, refusal: this.#refusal, tool_calls, ...legacy },
    };
  }

  /**
   * A new id starts a call, whatever its index, because some servers use index 0 or none for every
   * call.
   */
  #callOf(part: Fields): OpenCall {
    const index = typeof part.index === 'number' ? part.index : undefined;
    const id = part.id === '' || part.id === null ? undefined : part.id;
    const known =
      id === undefined
        ? this.#calls.findLast((call) => index === undefined || call.index === index)
        : this.#calls.findLast((call) => call.id === id && call.index === index);
    if (known !== undefined && !isNext(known, id, fields(part.function))) return known;
    const call: OpenCall = { id, index, name: '', arguments: '' };
    this.#calls.push(call);
    return call;
  }
}

/** A name after arguments that are whole is that of another call, though neither has an id. */
const isNext = (call: OpenCall, id: unknown, { name }: Fields): boolean =>
  id === undefined &&
  typeof name === 'string' &&
  name !== '' &&
  call.name !== '' &&
  (isFields(parseJson(call.arguments)) || (call.arguments !== '' && name !== call.name));

/** Most servers send a name once, some in pieces, and some whole in every delta. */
function grow(call: OpenCall, { name, arguments: args }: Fields): void {
  if (typeof name === 'string' && name !== call.name) call.name += name;
  if (typeof args === 'string') call.arguments += args;
}
