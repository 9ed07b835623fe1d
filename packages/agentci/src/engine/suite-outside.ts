import type { JudgeMode } from '../judge/mode.ts';
import type { Judge } from '../judge/port.ts';
import type { Embedded, Outside } from './asks-of.ts';
import { createCodeRunner } from './code-verdicts.ts';
import type { RunOptions } from './run-options.ts';

/** What the checks of a run may ask of the world outside, and how it ends with the run. */
export function suiteOutside(
  options: RunOptions,
  judge: Judge | JudgeMode,
): Outside & { readonly close: () => Promise<void> } {
  const { suite, env = {}, signal } = options;
  const code = createCodeRunner({ dir: suite.dir, env, signal });
  const local = async (texts: readonly string[]): Promise<Embedded> => {
    const { createLocalModels } = await import('../local-models/create-local-models.ts');
    return createLocalModels({ dir: suite.dir, env }).embedTexts(texts);
  };
  return {
    code: code.run,
    embed: async (texts, model) => {
      if (judge === 'off') return { ok: false, reason: 'the judge is off' };
      const asked = typeof judge === 'object' ? await judge.embed?.(texts, model) : undefined;
      if (asked?.ok === true || (asked !== undefined && model !== undefined)) return asked;
      const own = await local(texts);
      return own.ok || asked === undefined ? own : { ok: false, reason: `${asked.reason}; ${own.reason}` };
    },
    close: code.close,
  };
}
