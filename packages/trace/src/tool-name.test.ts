import { expect, test } from 'vitest';
import { isMeant, meantNames, splitToolName } from './tool-name.ts';

test.each([
  'fs.rm',
  'fs/rm',
  'fs:rm',
  'fs__rm',
  'mcp.fs.rm',
  'mcp_fs_rm',
  'mcp__fs__rm',
  'functions.rm:0',
  'rm',
])('a rule against rm means %s', (name) => {
  const split = splitToolName(name).name;
  expect(isMeant({ name: split, rawName: name }, (each) => each === 'rm')).toBe(true);
  expect(meantNames({ name: split })).toContain('rm');
});

test.each(['confirm', 'rm_dry_run', 'rm.confirm', 'perform_rm', 'rm-all', 'https://rm.example/'])(
  'a rule against rm does not mean %s',
  (name) => {
    expect(isMeant({ name }, (each) => each === 'rm')).toBe(false);
  },
);

test.each(['multi_tool_use.parallel', 'a.b', 'list:items', 'fn(x)', '()', 'functions.', 'tools.'])(
  '%s keeps its name',
  (name) => {
    expect(splitToolName(name).name).toBe(name);
  },
);
