import { present } from '@agentci/lib/data';
import type { ConversationResult, QueryResult, TurnResult } from '@agentci/results';

/** Long conversations show their start and end. Reports in files have all of it. */
const MAX_TURNS = 12;
const MAX_TEXT = 160;

/** A conversation line by line: speakers, tools, the verdict on each turn, and the blame. */
export function conversationLines(
  { turns, ending, blame }: ConversationResult,
  maxText = MAX_TEXT,
): string[] {
  const half = MAX_TURNS / 2;
  const left = turns.length - MAX_TURNS;
  const shown =
    left <= 0
      ? turns.flatMap((turn) => turnLines(turn, maxText))
      : [
          ...turns.slice(0, half).flatMap((turn) => turnLines(turn, maxText)),
          `… ${left} more turns …`,
          ...turns.slice(-half).flatMap((turn) => turnLines(turn, maxText)),
        ];
  return [...shown, endLine({ ending, blame })];
}

const MAX_FOUND = 5;

/**
 * The answers of single turns in which a whole-conversation check found something, with context.
 */
export function foundInTurns({ correctness }: Pick<QueryResult, 'correctness'>): string[] {
  const found = correctness.checks
    .filter(({ status }) => status === 'fail' || status === 'warn')
    .flatMap(({ evidence }) => evidence)
    .flatMap(({ turn, text }) =>
      turn === undefined || text === undefined
        ? []
        : [`answer of turn ${turn}: ${oneLine(text, 400)}`],
    );
  return [...new Set(found)].slice(0, MAX_FOUND);
}

function turnLines({ turn, user, answer, tools, status }: TurnResult, maxText: number): string[] {
  const verdict = status === 'skip' ? '' : ` (${status})`;
  return present([
    `turn ${turn}${verdict}`,
    `  user: ${oneLine(user, maxText)}`,
    tools === null || tools.length === 0 ? undefined : `  tools: ${tools.join(', ')}`,
    `  agent: ${answer === null ? '(no answer)' : oneLine(answer, maxText)}`,
  ]);
}

function endLine({
  ending,
  blame,
}: {
  ending: string | undefined;
  blame: ConversationResult['blame'];
}): string {
  const end = ending === undefined ? 'end of the recording' : `ended: ${ending}`;
  return blame === undefined ? end : `${end}; to blame: ${blame}`;
}

function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
