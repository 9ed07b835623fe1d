import { type AnyCheck, type BlockWords, isCheck } from './check.ts';
import { CHECKS } from './index.gen.ts';
import { JUDGED } from './judged.ts';

/** A check's expectation in words for these parameters. Undefined for invalid ones. */
export function wantedText(check: AnyCheck, params: unknown): string | undefined {
  try {
    return check.wants?.(params as never, blockWords);
  } catch {
    // A description must never change a verdict.
    return undefined;
  }
}

const BY_KEY = new Map([...CHECKS, ...JUDGED].filter(isCheck).map((check) => [check.key, check]));

const blockWords: BlockWords = (block) =>
  Object.entries(block)
    .flatMap(([key, params]) => {
      const check = BY_KEY.get(key);
      return check === undefined ? [] : [wantedText(check, params) ?? key];
    })
    .join('; ');
