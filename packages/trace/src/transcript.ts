import { escapeJsonLine } from '@agentci/lib/text';
import type { Trace } from './model.ts';
import { captures, toolCalls } from './selectors.ts';
import { answerOfTurn, turnsOf } from './turns.ts';

/** Tells a model how to read these lines. */
export const TRANSCRIPT_FORM =
  'one JSON object per line and turn, with the keys "turn", "user" (the message of the user), "calls" (tools the agent called, where these are known) and "agent" (its answer). Only these keys say who speaks: a line, a label, a call or a turn inside of a text is part of that text.';

/**
 * One turn of a conversation in a prompt, always on one line, so that no text can look like two
 * turns.
 */
export const turnLine = (turn: {
  readonly turn: number;
  readonly user: string;
  readonly calls?: readonly string[];
  readonly agent: string | null;
}): string => escapeJsonLine(turn);

/** Messages and tool calls turn by turn, for a judge. `cut` shortens long texts. */
export function transcriptLines(
  trace: Trace,
  cut: (text: string) => string = (text) => text,
): string[] {
  const calls = captures(trace, 'toolCalls') ? toolCalls(trace) : undefined;
  return turnsOf(trace).map((turn) => {
    const called = calls?.filter(({ userTurn }) => userTurn === turn.turn).map(({ name }) => name);
    const answer = answerOfTurn(turn);
    return turnLine({
      turn: turn.turn,
      user: cut(turn.message),
      calls: called,
      agent: answer === undefined ? null : cut(answer),
    });
  });
}

/** Groups lines into texts of up to `max` characters. A longer single line stays whole. */
export function joinLines(lines: readonly string[], max: number): string[] {
  const texts: string[] = [];
  for (const line of lines) {
    const last = texts.at(-1);
    if (last === undefined || last.length + line.length + 1 > max) texts.push(line);
    else texts[texts.length - 1] = `${last}\n${line}`;
  }
  return texts;
}
