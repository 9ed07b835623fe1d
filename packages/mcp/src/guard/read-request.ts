import { isObject } from '@agentci/lib/data';
import {
  findDuplicateKey,
  findInexactNumber,
  isDeeperThan,
  MAX_JSON_DEPTH,
} from '@agentci/lib/json';
import { visibleName } from '@agentci/lib/text';
import { idKey, type Message } from '../message.ts';
import { itemSpans, rootSpan, valueSpan } from '../raw-json.ts';

/**
 * The reason to refuse a message before the policy is used: two parsers could interpret it
 * differently.
 */
export interface Flaw {
  readonly rule: string;
  readonly reason: string;
  /** The matching JSON-RPC error code. */
  readonly code: number;
}

export interface ReadCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, unknown>>;
  /**
   * A number with more digits than we can represent. The server may read a different value than the
   * one judged.
   */
  readonly number?: string;
}

/** A client's message as the guard parses it. */
export type ReadMessage =
  | {
      readonly kind: 'call';
      readonly text: string;
      readonly message: Message;
      readonly call: ReadCall;
    }
  | { readonly kind: 'other'; readonly text: string; readonly message: Message }
  | {
      readonly kind: 'flaw';
      readonly text: string;
      readonly message: Message | undefined;
      readonly flaw: Flaw;
      readonly tool: string | null;
    };

export type ReadRequest =
  | { readonly kind: 'blank' }
  | { readonly kind: 'one'; readonly item: ReadMessage }
  | {
      readonly kind: 'batch';
      readonly items: readonly { readonly text: string; readonly item: ReadMessage }[];
    }
  | { readonly kind: 'flaw'; readonly flaw: Flaw };

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

const flaw = (rule: string, code: number, reason: string): Flaw => ({
  rule: `guard.${rule}`,
  code,
  reason,
});

/** Parses a client's message. Anything ambiguous is a flaw. */
export function readRequest(bytes: Uint8Array): ReadRequest {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return {
      kind: 'flaw',
      flaw: flaw('invalid_utf8', PARSE_ERROR, 'the message is not valid UTF-8'),
    };
  }
  if (text.trim() === '') return { kind: 'blank' };
  if (isDeeperThan(text, MAX_JSON_DEPTH))
    return {
      kind: 'flaw',
      flaw: flaw(
        'too_deep',
        PARSE_ERROR,
        `the message is nested deeper than ${MAX_JSON_DEPTH} levels`,
      ),
    };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      kind: 'flaw',
      flaw: flaw('not_json', PARSE_ERROR, 'the message is not one JSON value'),
    };
  }
  if (hidesLine(text))
    return {
      kind: 'flaw',
      flaw: flaw(
        'line_break',
        PARSE_ERROR,
        'a part of the message is a separate message for readers that also end lines elsewhere',
      ),
    };
  if (!Array.isArray(value)) return { kind: 'one', item: readMessage(value, text) };
  const items = itemSpans(text, rootSpan(text)).map(({ start, end }) => text.slice(start, end));
  return {
    kind: 'batch',
    items: items.map((item) => ({ text: item, item: readMessage(JSON.parse(item), item) })),
  };
}

/**
 * Some parsers also end a line at a carriage return or a Unicode line separator. A piece must not
 * be a message for them.
 */
export function hidesLine(text: string): boolean {
  if (!LINE_ENDS.test(text)) return false;
  const pieces = text.split(LINE_ENDS).filter((piece) => piece.trim() !== '');
  return pieces.length > 1 && pieces.some(isJsonObject);
}

const LINE_ENDS = /[\r\u0085\u2028\u2029]/;

function isJsonObject(piece: string): boolean {
  try {
    const value: unknown = JSON.parse(piece);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function readMessage(value: unknown, text: string): ReadMessage {
  const broken = (message: Message | undefined, why: Flaw): ReadMessage =>
    flawed(message, text, why);
  if (!isObject(value))
    return broken(undefined, flaw('not_object', INVALID_REQUEST, 'a message must be an object'));
  const odd = oddKey(value, ['jsonrpc', 'id', 'method', 'params']);
  if (odd !== undefined)
    return broken(
      value,
      flaw(
        'odd_key',
        INVALID_REQUEST,
        `the key ${JSON.stringify(odd)} is read differently by different programs`,
      ),
    );
  const { method } = value;
  // An answer to a server's request starts nothing, whatever its content.
  if (method === undefined) return { kind: 'other', text, message: value };
  const twice = findDuplicateKey(text);
  if (twice !== undefined)
    return broken(
      value,
      flaw(
        'duplicate_key',
        INVALID_REQUEST,
        `the key ${JSON.stringify(twice.key.slice(0, 80))} appears twice`,
      ),
    );
  if (typeof method !== 'string')
    return broken(value, flaw('bad_method', INVALID_REQUEST, '"method" must be a string'));
  if (method === 'tools/call') return readCall(value, text);
  return fold(method) === 'tools/call'
    ? broken(value, flaw('bad_method', INVALID_REQUEST, '"method" only looks like tools/call'))
    : { kind: 'other', text, message: value };
}

function readCall(message: Message, text: string): ReadMessage {
  const broken = (_: Message, why: Flaw): ReadMessage => flawed(message, text, why);
  const { id, params } = message;
  if (idKey(id) === undefined)
    return broken(
      message,
      flaw('bad_id', INVALID_REQUEST, 'a tools/call needs an id, a string or a number'),
    );
  if (!isObject(params))
    return broken(
      message,
      flaw('bad_params', INVALID_PARAMS, 'a tools/call needs "params" with the name of a tool'),
    );
  const odd = oddKey(params, ['name', 'arguments']);
  if (odd !== undefined)
    return broken(
      message,
      flaw(
        'odd_key',
        INVALID_PARAMS,
        `the key ${JSON.stringify(odd)} is read differently by different programs`,
      ),
    );
  const { name } = params;
  if (typeof name !== 'string' || name.trim() === '')
    return broken(
      message,
      flaw('bad_name', INVALID_PARAMS, 'a tools/call needs the name of a tool'),
    );
  // Parsers treat a lone surrogate differently, or drop it.
  if (ESCAPED_SURROGATE.test(text) && hasLoneSurrogate(params))
    return broken(
      message,
      flaw('odd_text', INVALID_PARAMS, 'a text of the call has an unpaired surrogate'),
    );
  if (visibleName(name) !== name)
    return broken(
      message,
      flaw('odd_name', INVALID_PARAMS, 'the tool name has invisible characters'),
    );
  const args = params.arguments ?? {};
  if (!isObject(args))
    return broken(message, flaw('bad_arguments', INVALID_PARAMS, '"arguments" must be an object'));
  const number = findInexactNumber(textOf(text, 'params'));
  return {
    kind: 'call',
    text,
    message,
    call: {
      id: id as string | number,
      name,
      args,
      params,
      number,
    },
  };
}

function flawed(message: Message | undefined, text: string, why: Flaw): ReadMessage {
  const params = isObject(message?.params) ? message.params : {};
  return {
    kind: 'flaw',
    text,
    message,
    flaw: why,
    tool: typeof params.name === 'string' ? params.name : null,
  };
}

/** The part of a message's text that holds the value of a key. */
function textOf(text: string, key: string): string {
  const span = valueSpan(text, rootSpan(text), key);
  return span === undefined ? '' : text.slice(span.start, span.end);
}

const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return LONE_SURROGATE.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => LONE_SURROGATE.test(key) || hasLoneSurrogate(inner),
  );
}

/** A key that equals one of these for a case-insensitive parser. */
export function oddKey(
  object: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string | undefined {
  return Object.keys(object).find((key) => !names.includes(key) && names.includes(fold(key)));
}

const PLAIN = /^[a-z_/]*$/;
const fold = (text: string): string =>
  PLAIN.test(text) ? text : visibleName(text).normalize('NFKC').toLowerCase();
