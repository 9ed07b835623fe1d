import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../regex/glob.ts';
import { foldText } from './text-fold.ts';
import { visibleName, visibleNames, visibleText } from './visible-text.ts';

const codePoints = (test: RegExp): string[] => {
  const found: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const char = String.fromCodePoint(code);
    if (test.test(char)) found.push(char);
  }
  return found;
};
const IGNORABLE = codePoints(/\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/u);

test('no ignorable character, anywhere in a word, hides it', () => {
  expect(IGNORABLE.length).toBeGreaterThan(4000);
  const hidden = IGNORABLE.filter(
    (char) =>
      visibleText(`pass${char}word`) !== 'password' ||
      !foldText(`the ${char}PASS${char}word${char}!`).includes('password') ||
      visibleName(`${char}r${char}m${char}`) !== 'rm' ||
      !compileGlob('r*')(`${char}rm`) ||
      !compileGlob(`r${char}m`)('rm'),
  );
  expect(hidden.map((char) => char.codePointAt(0)!.toString(16))).toEqual([]);
});

test('white space of any kind and length is one space', () => {
  const spaces = codePoints(/\p{White_Space}/u);
  expect(spaces.length).toBe(25);
  for (const space of spaces) expect(visibleText(`a${space}${space} b`)).toBe('a b');
});

describe('what a reader sees', () => {
  test.each([
    { what: 'full-width letters', text: 'ｒｍ', seen: 'rm' },
    { what: 'mathematical letters', text: '𝐫𝐦', seen: 'rm' },
    { what: 'a ligature', text: 'ﬁle', seen: 'file' },
    { what: 'a separate accent', text: 'cafe\u0301', seen: 'café' },
    { what: 'an accent kept apart by a joiner', text: 'cafe\u200d\u0301', seen: 'café' },
    { what: 'a non-breaking space', text: 'a\u00a0b', seen: 'a b' },
    { what: 'control characters', text: 'r\u0000m\u007f\u001b', seen: 'rm' },
    { what: 'colours of a terminal', text: 'deg\u001b[1;32mrees\u001b[0m', seen: 'degrees' },
    {
      what: 'a link of a terminal',
      text: 'a\u001b]8;;http://x\u0007b\u001b]8;;\u001b\\c',
      seen: 'abc',
    },
    { what: 'an emoji', text: '❤️', seen: '❤' },
    { what: 'another alphabet, which stays what it is', text: 'рm', seen: 'рm' },
    {
      what: 'plain text, as it stands',
      text: 'plain text, as it stands',
      seen: 'plain text, as it stands',
    },
  ])('$what', ({ text, seen }) => {
    expect(visibleText(text)).toBe(seen);
  });

  test('trims names and keeps their case, and returns a list of plain names unchanged', () => {
    expect(visibleName(' Read\u200b ')).toBe('Read');
    const plain = ['a', 'b_c'];
    expect(visibleNames(plain)).toBe(plain);
  });

  test('looking twice shows nothing new', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visibleText(visibleText(text))).toBe(visibleText(text));
        expect(foldText(foldText(text))).toBe(foldText(text));
      }),
      { numRuns: 2000 },
    );
  });
});
