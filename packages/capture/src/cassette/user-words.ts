import { isObject } from '@agentci/lib/data';

/** One reply of the model that simulates the user of a conversation. */
export interface UserWords {
  /** Hash of the model's input: its brief and the messages so far. */
  readonly key: string;
  readonly model: string;
  readonly reply: unknown;
}

/** Writes a cassette line with a message of the user. These lines follow the agent's calls. */
export const writeUserWords = ({ key, model, reply }: UserWords, at: number): object => ({
  user: at + 1,
  key,
  model,
  reply,
});

/** Parses a line, or returns the problem. */
export function readUserWords(
  line: Readonly<Record<string, unknown>>,
  at: number,
): UserWords | string {
  const { key, model, reply } = line;
  if (line.user !== at + 1) return `"user" should be ${at + 1}`;
  if (typeof key !== 'string' || typeof model !== 'string')
    return '"key" or "model" of the user is missing';
  return isObject(reply) ? { key, model, reply } : 'the reply of the user is missing';
}
