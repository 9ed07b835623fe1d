/** A request, independent of its protocol. */
export interface ScriptedRequest {
  /** Counts from 0 over the lifetime of the server. */
  readonly index: number;
  readonly protocol: 'anthropic' | 'chat' | 'responses' | 'gemini';
  readonly model: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  /** Names of the offered tools. */
  readonly tools: readonly string[];
  readonly stream: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The original body. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ScriptedToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export type Fault =
  /** An error status, e.g. 429 with `retryAfter` in seconds, or 500. */
  | { readonly status: number; readonly retryAfter?: number | string; readonly message?: string }
  /** A body truncated in the middle. */
  | { readonly truncatedBody: true }
  /** JSON that no SDK expects. */
  | { readonly wrongSchema: true }
  /** The connection is closed without a reply. */
  | { readonly hangUp: true };

export type ScriptedReply =
  | (Fault & { readonly delayMs?: number })
  | {
      readonly text?: string;
      readonly toolCalls?: readonly ScriptedToolCall[];
      /** The model refuses in the form of its protocol. */
      readonly refusal?: string;
      /** The token limit truncated the reply. */
      readonly cutOff?: boolean;
      readonly usage?: { readonly input: number; readonly output: number };
      readonly delayMs?: number;
    };

/** A reply without a fault. */
export interface PlainReply {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly (ScriptedToolCall & { readonly id: string })[];
  readonly refusal: string | undefined;
  readonly cutOff: boolean;
  readonly usage: { readonly input: number; readonly output: number };
}

/** Parses requests and formats replies of one wire format. */
export interface Protocol {
  readonly name: ScriptedRequest['protocol'];
  readonly matches: (path: string) => boolean;
  readonly read: (
    body: Record<string, unknown>,
    path: string,
  ) => Omit<ScriptedRequest, 'index' | 'protocol' | 'headers' | 'body'>;
  readonly write: (reply: PlainReply) => unknown;
  /** Ordered events of a stream. `event` is the SSE event name, if the protocol uses one. */
  readonly stream: (
    reply: PlainReply,
  ) => readonly { readonly event?: string; readonly data: unknown }[];
  readonly error: (status: number, message: string) => unknown;
}

/** The text of a content that is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => {
      const { text, content: inner } = (part ?? {}) as { text?: unknown; content?: unknown };
      return typeof text === 'string' ? text : textOf(inner);
    })
    .filter((text) => text !== '')
    .join('\n');
}

export const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];

/** Splits a text into stream chunks. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,16}/g) ?? [];
}
