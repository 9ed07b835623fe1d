import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../regex/glob.ts';
import { escapedName, exactNameSlip, patternSlip } from './name-slip.ts';

describe('patterns that match no tool are refused with the right spelling', () => {
  test.each([
    { pattern: 'rm,ls', meant: '[rm, ls]' },
    { pattern: 'rm, ls', meant: '[rm, ls]' },
    { pattern: 'rm,', meant: 'write rm;' },
    { pattern: 'rm;ls', meant: '[rm, ls]' },
    { pattern: 'rm&ls', meant: '[rm, ls]' },
    { pattern: '{rm,ls}', meant: '[rm, ls]' },
    { pattern: 'file_{read,write}', meant: '[file_read, file_write]' },
    { pattern: '!rm', meant: 'write rm;' },
    { pattern: 'rm ls', meant: '[rm, ls]' },
    { pattern: 'rm\tls', meant: '[rm, ls]' },
    { pattern: 'rm\nls', meant: '[rm, ls]' },
    { pattern: 'ls - rm', meant: '[ls, rm]' },
    { pattern: '- rm', meant: 'write rm;' },
    { pattern: '-rm', meant: 'write rm;' },
    { pattern: '[rm]', meant: 'write rm;' },
    { pattern: '[rm, ls]', meant: '[rm, ls]' },
    { pattern: '[rm', meant: 'write rm;' },
    { pattern: 'rm]', meant: 'write rm;' },
    { pattern: '"rm"', meant: 'write rm;' },
    { pattern: "'rm'", meant: 'write rm;' },
    { pattern: '`rm`', meant: 'write rm;' },
    { pattern: 'rm|ls', meant: '[rm, ls]' },
    { pattern: '^rm$', meant: 'write rm;' },
    { pattern: '/rm/', meant: 'write rm;' },
    { pattern: 'rm%', meant: 'write rm*;' },
    { pattern: 'rm:', meant: 'write rm;' },
    { pattern: 'rm ', meant: 'write rm;' },
    { pattern: 'Bash(rm *)', meant: 'Bash' },
  ])('$pattern', ({ pattern, meant }) => {
    expect(patternSlip(pattern)?.hint).toContain(meant);
  });

  test.each([
    'rm',
    'admin_*',
    '*_x',
    'a*b',
    'file_?',
    'functions.*',
    'mcp__files__read',
    'get-user',
    'ns/tool',
    'ns:tool',
    '@scope/tool',
    'fs.read',
    'read_[ab]',
    '[a-c]*',
    'tool_[!0-9]',
    'größe',
    '搜索',
  ])('%s is a pattern like any other', (pattern) => {
    expect(patternSlip(pattern)).toBeUndefined();
  });
});

describe('names taken as they stand', () => {
  test.each(['rm,ls', '{rm,ls}', '!rm', 'ls - rm', '[rm, ls]', '"rm"', '- rm'])(
    '%s is refused',
    (name) => {
      expect(exactNameSlip(name)).toBeDefined();
    },
  );

  test.each(['rm', 'Delegate work to coworker', "Read a file's content", 'ns:tool', 'a(b)'])(
    '%s may be one',
    (name) => {
      expect(exactNameSlip(name)).toBeUndefined();
    },
  );
});

test('a tool that really has an odd name can be named: the escaped form matches it and is not refused', () => {
  const odd = fc.string({ unit: fc.constantFrom(...'ab_,;{}!|()\\^$"\'`&%[]:-/. *?') });
  fc.assert(
    fc.property(odd, (text) => {
      const name = text.trim();
      fc.pre(name !== '');
      expect(patternSlip(escapedName(name))).toBeUndefined();
      expect(compileGlob(escapedName(name))(name)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});
