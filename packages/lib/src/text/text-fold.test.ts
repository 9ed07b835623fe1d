import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldText } from './text-fold.ts';

test.each([
  { text: 'PIP INSTALL', term: 'pip install', found: true, why: 'ASCII case' },
  { text: 'STRASSE', term: 'straße', found: true, why: 'sharp s against SS' },
  { text: 'straße', term: 'STRASSE', found: true, why: 'SS against sharp s' },
  { text: 'ΟΔΟΣ', term: 'οδος', found: true, why: 'a capital sigma against a final one' },
  { text: 'οδος', term: 'ΟΔΟΣ', found: true, why: 'a final sigma against a capital one' },
  {
    text: 'ΟΔΟΣΑ',
    term: 'οδος',
    found: true,
    why: 'a final sigma in the term against one inside a word',
  },
  { text: 'ὈΔΥΣΣΕΎΣ', term: 'σ', found: true, why: 'a sigma at any position' },
  { text: 'İSTANBUL', term: 'istanbul', found: true, why: 'the dotted capital I' },
  { text: 'istanbul', term: 'İstanbul', found: true, why: 'the dotted capital I the other way' },
  { text: 'cafe\u0301', term: 'caf\u00e9', found: true, why: 'an accent written apart' },
  {
    text: 'CAFE\u0301',
    term: 'caf\u00e9',
    found: true,
    why: 'an accent written apart, in capitals',
  },
  { text: 'café', term: 'cafe', found: false, why: 'an accent is not dropped' },
  { text: 'ﬁnal', term: 'FINAL', found: true, why: 'a ligature' },
  { text: 'абв', term: 'АБВ', found: true, why: 'Cyrillic' },
  { text: 'abc', term: 'd', found: false, why: 'other letters' },
])('finds $term in $text: $found ($why)', ({ text, term, found }) => {
  expect(foldText(text).includes(foldText(term))).toBe(found);
});

test('folding twice changes nothing more', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(foldText(foldText(text))).toBe(foldText(text));
    }),
  );
});

test('the case of a text does not change what it folds to', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(foldText(text.toUpperCase())).toBe(foldText(text));
    }),
  );
});

test('the large sharp s meets the small one and its two letters', () => {
  expect(new Set(['STRAẞE', 'Straße', 'STRASSE', 'straẞe'].map(foldText)).size).toBe(1);
});
