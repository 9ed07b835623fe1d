import { isObject } from '@agentci/lib/data';

/** One reply of the model that plays the user of a conversation. */
export interface UserWords {
  /** Hash of what the model was asked: its brief and what was said so far. */
  readonly key: string;
  readonly model: string;
  readonly reply: unknown;
}

/** A line of a cassette for what the user said, after those of the agent's calls. */
export const writeUserWords = ({ key, model, reply }: UserWords, at: number): object => ({
  user: at + 1,
  key,
  model,
  reply,
});

/** What a line holds, or what is wrong with it. */
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
