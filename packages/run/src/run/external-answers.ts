import type { Judge, JudgeMode } from '@agentci/judge';
import type { CheckResult } from '@agentci/results';
import { createCodeRunner } from './code-verdicts.ts';
import type { Embedded, Outside } from './collect-asks.ts';
import type { RunOptions } from './run-options.ts';

/** The external services for the checks of a run. They end with the run. */
export function suiteOutside(
  options: RunOptions,
  judge: Judge | JudgeMode,
): Outside & { readonly checks: () => CheckResult[]; readonly close: () => Promise<void> } {
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
      return own.ok || asked === undefined
        ? own
        : { ok: false, reason: `${asked.reason}; ${own.reason}` };
    },
    checks: () => {
      const [first, ...others] = code.lateErrors();
      if (first === undefined) return [];
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      const message = `${first}${more}; it failed after it had given its verdict, so the verdict may be wrong: wait for every promise`;
      return [{ id: 'code.late', status: 'error', message, evidence: [] }];
    },
    close: code.close,
  };
}
