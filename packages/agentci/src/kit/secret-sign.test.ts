import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SecretSign } from './secret-sign.ts';

test('every text with one of the forms has the sign', () => {
  const character = fc.constantFrom(...'abcXYZ019-_/+. ä'.split(''));
  const form = fc.string({ unit: character, minLength: 6, maxLength: 40 });
  const around = fc.string({ unit: character, maxLength: 60 });
  fc.assert(
    fc.property(
      fc.array(form, { minLength: 1, maxLength: 4 }),
      around,
      around,
      (forms, before, after) => {
        for (const characters of [/[\w+/-]/, /[A-Za-z0-9]/]) {
          const sign = new SecretSign(forms, characters);
          for (const each of forms) expect(sign.isIn(before + each + after)).toBe(true);
        }
      },
    ),
    { numRuns: 3000 },
  );
});

test('a text of plain words has not', () => {
  const sign = new SecretSign(['sk-proj-abcdefghijklmnopqrstuvwxyz'], /[\w+/-]/);
  expect(sign.isIn('The Capital of Region 00001 is Alpha City. '.repeat(50))).toBe(false);
});
