/** Visible turns, or consecutive turns without remarks. */
export interface TurnRun<T> {
  readonly isFolded: boolean;
  readonly turns: readonly T[];
}

/** Shorter conversations are shown completely. */
const SHORT = 8;
const MIN_FOLDED = 3;

/**
 * Folds turns without remarks into one line, so that readers of a long conversation need not
 * scroll.
 */
export function foldTurns<T>(turns: readonly T[], isOfNote: (turn: T) => boolean): TurnRun<T>[] {
  if (turns.length <= SHORT) return [{ isFolded: false, turns }];
  const last = turns.length - 1;
  const runs: { isFolded: boolean; turns: T[] }[] = [];
  for (const [i, turn] of turns.entries()) {
    const isFolded = i !== 0 && i !== last && !isOfNote(turn);
    const run = runs.at(-1);
    if (run?.isFolded === isFolded) run.turns.push(turn);
    else runs.push({ isFolded, turns: [turn] });
  }
  return runs.map((run) => (run.turns.length < MIN_FOLDED ? { ...run, isFolded: false } : run));
}
