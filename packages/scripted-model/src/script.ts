/** A request as every protocol gives it. */
export interface ScriptedRequest {
  /** Counted from 0 over the life of the server. */
  readonly index: number;
  readonly protocol: 'anthropic' | 'chat' | 'responses' | 'gemini';
  readonly model: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  /** Names of the tools offered. */
  readonly tools: readonly string[];
  readonly stream: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As sent. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ScriptedToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export type Fault =
  /** An error status, e.g. 429 with `retryAfter` in seconds, or 500. */
  | { readonly status: number; readonly retryAfter?: number | string; readonly message?: string }
  /** A body that breaks off in the middle. */
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
      /** The model declines, the way its protocol says so. */
      readonly refusal?: string;
      /** The reply was cut off by the token limit. */
      readonly cutOff?: boolean;
      readonly usage?: { readonly input: number; readonly output: number };
      readonly delayMs?: number;
    };

/** A reply that is one: what a protocol has to put into words. */
export interface PlainReply {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly (ScriptedToolCall & { readonly id: string })[];
  readonly refusal: string | undefined;
  readonly cutOff: boolean;
  readonly usage: { readonly input: number; readonly output: number };
}

/** How one wire format reads requests and writes replies. */
export interface Protocol {
  readonly name: ScriptedRequest['protocol'];
  readonly matches: (path: string) => boolean;
  readonly read: (
    body: Record<string, unknown>,
    path: string,
  ) => Omit<ScriptedRequest, 'index' | 'protocol' | 'headers' | 'body'>;
  readonly write: (reply: PlainReply) => unknown;
  /** Events of a stream, in order. `event` is the SSE event name, where the protocol has one. */
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

/** Cuts a text into pieces, as a stream brings it. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,16}/g) ?? [];
}
