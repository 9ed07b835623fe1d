import { celEngine, provideCel } from './expression.ts';

/** Loads the engine for everyone. */
export async function loadCel(): Promise<void> {
  if (celEngine() === undefined) provideCel((await import('./engine.ts')).engine);
}
