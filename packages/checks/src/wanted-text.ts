import { type AnyCheck, type BlockWords, isCheck } from './check.ts';
import { CHECKS } from './index.gen.ts';
import { JUDGED } from './judged.ts';

/** What a check wants with these parameters, for people. Undefined if they make no sense. */
export function wantedText(check: AnyCheck, params: unknown): string | undefined {
  try {
    return check.wants?.(params as never, blockWords);
  } catch {
    // Words about a verdict must not become one.
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
