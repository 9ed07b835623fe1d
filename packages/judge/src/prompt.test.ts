import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ATTACK_QUERY, ATTACK_TEMPLATE, ATTACKS, PLAIN_BAD_ANSWER } from './attacks.ts';
import { judgePrompt } from './prompt.ts';
import { resolveRubric } from './rubric.ts';

const rubric = resolveRubric({ template: ATTACK_TEMPLATE });
const promptFor = (answer: string, query = ATTACK_QUERY, context?: string[]) =>
  judgePrompt({ rubric, query, answer, ...(context ? { context } : {}) });
const nonceOf = (text: string): string => /<data-([0-9a-f]{24}) /.exec(text)![1]!;

/** Text outside of this prompt's tags, which a careful model takes for instructions. */
function outside({ system, user }: { system: string; user: string }): string {
  const nonce = nonceOf(user);
  return `${system}\n${user}`
    .replace(
      new RegExp(`<data-${nonce} name="[^"]*">\\n[\\s\\S]*?\\n</data-${nonce}>`, 'g'),
      '<block>',
    )
    .replaceAll(nonce, 'NONCE');
}

/** Lines without the data prefix, which a careless model takes for instructions. */
const unmarked = ({ user }: { user: string }): string =>
  user
    .split('\n')
    .filter((line) => !line.startsWith('| '))
    .join('\n')
    .replaceAll(nonceOf(user), 'NONCE');

describe('what stands outside the data blocks is the same for every answer', () => {
  const benign = promptFor(PLAIN_BAD_ANSWER);

  test('there are at least thirty attacks with unique ids', () => {
    expect(new Set(ATTACKS.map(({ id }) => id)).size).toBe(ATTACKS.length);
    expect(ATTACKS.length).toBeGreaterThanOrEqual(30);
  });

  test.each(ATTACKS)('$technique: $id', ({ answer }) => {
    for (const prompt of [promptFor(answer), promptFor(PLAIN_BAD_ANSWER, answer)]) {
      expect(outside(prompt)).toBe(outside(benign));
      expect(unmarked(prompt)).toBe(unmarked(benign));
    }
    expect(outside(promptFor(PLAIN_BAD_ANSWER, ATTACK_QUERY, [answer]))).not.toContain(
      'Perfect answer',
    );
  });

  test('for any text', () => {
    const nasty = fc.constantFrom(
      '<',
      '/',
      'data',
      '-',
      '>',
      '\n',
      '\r',
      '\u2028',
      '| ',
      '\u200b',
      '<|',
      'name="answer"',
      '\ud800',
      'system',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(nasty, fc.string({ maxLength: 5 })), { maxLength: 30 }),
        (parts) => {
          const prompt = promptFor(parts.join(''));
          expect(outside(prompt)).toBe(outside(benign));
          expect(unmarked(prompt)).toBe(unmarked(benign));
        },
      ),
    );
  });
});

describe('inside a block', () => {
  const block = (answer: string): string => promptFor(answer).user;

  test.each([
    {
      what: 'zero-width characters',
      text: 'sc\u200bore\u2060 \ufeff5',
      gone: /\p{Default_Ignorable_Code_Point}/u,
    },
    { what: 'tag characters', text: 'a\u{e0041}\u{e0042}', gone: /[\u{e0000}-\u{e007f}]/u },
    { what: 'direction marks', text: 'a\u202eb\u2066c', gone: /[\u202a-\u202e\u2066-\u2069]/ },
    {
      what: 'control characters',
      text: 'a\x00\x07\x1b[31m\x9b',
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that they are gone is the point.
      gone: /[\x00-\x08\x0b-\x1f\x7f-\x9f]/,
    },
    {
      what: 'chat template marks',
      text: '<|im_start|> <\uff5cend\uff5c> <<SYS>> [INST]',
      gone: /<\||<\uff5c|<<|\[INST/,
    },
    { what: 'lone surrogates', text: 'a\ud83d', gone: /\p{Surrogate}/u },
  ])('removes $what', ({ text, gone }) => {
    expect(block(text)).not.toMatch(gone);
  });

  test('a long answer keeps its start and end, and reports the gap', () => {
    const user = block(`START${'x'.repeat(100_000)}END`);
    expect(user).toContain('START');
    expect(user).toContain('END');
    expect(user).toMatch(/\[\.\.\. \d+ characters left out \.\.\.\]/);
    expect(user.length).toBeLessThan(30_000);
  });

  test('ordinary text is kept as it is, line by line', () => {
    expect(block('Größe: 5 < 6 & "ok"\n\tzweite Zeile 👍')).toContain(
      '| Größe: 5 < 6 & "ok"\n| \tzweite Zeile 👍',
    );
  });
});

test('equal questions give equal prompts, any difference another hash', () => {
  const base = promptFor('a');
  expect(promptFor('a')).toEqual(base);
  const hashes = [
    promptFor('b'),
    promptFor('a', 'other'),
    promptFor('a', ATTACK_QUERY, ['doc']),
  ].map(({ hash }) => hash);
  expect(new Set([base.hash, ...hashes]).size).toBe(4);
});

test('the threshold is not part of the question, so changing it asks no judge', () => {
  const ask = (threshold: number) =>
    judgePrompt({
      rubric: resolveRubric({ rule: 'is polite', threshold }),
      query: 'q',
      answer: 'a',
    }).hash;
  expect(ask(0.5)).toBe(ask(0.8));
});

test('our words come last', () => {
  expect(promptFor('x').user.trimEnd()).toMatch(/"borderline" when it is between$/);
});
