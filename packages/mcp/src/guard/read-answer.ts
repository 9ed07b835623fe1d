import { isObject } from '@agentci/lib/data';
import { findDuplicateKey } from '@agentci/lib/json';
import { type Message, messagesIn } from '../message.ts';
import { itemSpans, rootSpan } from '../raw-json.ts';
import { hidesLine, oddKey } from './read-request.ts';

/** A server's message with its source text. */
export interface AnswerPart {
  readonly text: string;
  /** Undefined for a batch item that is not an object. */
  readonly message: Message | undefined;
}

export interface ReadAnswer {
  readonly parts: readonly AnswerPart[];
  /** The whole text with parts replaced. */
  readonly joined: (texts: readonly string[]) => string;
}

/** Parses a server's message. Undefined if clients may interpret it differently. */
export function readAnswer(text: string): ReadAnswer | undefined {
  const messages = messagesIn(text);
  if (messages === undefined || hidesLine(text)) return undefined;
  const root = rootSpan(text);
  const [before, after] = [text.slice(0, root.start), text.slice(root.end)];
  if (text[root.start] !== '[')
    return {
      parts: [{ text: text.slice(root.start, root.end), message: messages[0] }],
      joined: ([only = '']) => (only === '' ? '' : `${before}${only}${after}`),
    };
  let next = 0;
  const parts = itemSpans(text, root).map(({ start, end }) => ({
    text: text.slice(start, end),
    message: text[start] === '{' ? messages[next++] : undefined,
  }));
  return {
    parts,
    joined: (texts) => {
      const kept = texts.filter((each) => each !== '');
      return kept.length === 0 && texts.length > 0 ? '' : `${before}[${kept.join(',')}]${after}`;
    },
  };
}

const NAMES = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];

/** The reason why two parsers could interpret a server's message differently. */
export function answerFlaw({ text, message }: AnswerPart): string | undefined {
  if (message === undefined) return 'it is not an object';
  const isAnswer = 'result' in message || 'error' in message;
  const odd = oddKey(message, NAMES);
  if (odd !== undefined)
    return `the key ${JSON.stringify(odd)} is read differently by different programs`;
  if (message.method !== undefined) {
    if (isAnswer) return 'it has both a method and an answer';
    const { method, params } = message;
    const isOfTask = typeof method === 'string' && method.startsWith('notifications/tasks');
    return isOfTask && isObject(params) && ('result' in params || 'error' in params)
      ? 'it holds the result of a task, which cannot be judged'
      : undefined;
  }
  if (!isAnswer) return 'it is neither a request nor an answer';
  if ('result' in message && 'error' in message) return 'it has both a result and an error';
  const twice = findDuplicateKey(text);
  return twice === undefined
    ? undefined
    : `the key ${JSON.stringify(twice.key.slice(0, 80))} appears twice`;
}
