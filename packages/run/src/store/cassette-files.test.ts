import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, it } from 'vitest';
import {
  cassetteFileName,
  cassettePath,
  checkCassettePlace,
  readCassetteFile,
  readCassetteHead,
  writeCassetteFile,
} from './cassette-files.ts';

describe('the file of a run', () => {
  it.each([
    [{ id: 'refund', run: 1 }, /^refund\.jsonl$/],
    [{ id: 'refund', run: 3 }, /^refund\.run-3\.jsonl$/],
    [{ id: 'refund', run: 1, cell: { model: 'a' } }, /^refund\.cell-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'refund', run: 2, cell: { model: 'a' } }, /^refund\.cell-[0-9a-f]{8}\.run-2\.jsonl$/],
    [{ id: '..', run: 1 }, /^query-[0-9a-f]{8}\.jsonl$/],
    [{ id: '../../etc/passwd', run: 1 }, /^etc-passwd-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'straße 😀', run: 1 }, /^stra-e-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'refund.run-2', run: 1 }, /^refund-run-2-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'Refund', run: 1 }, /^Refund\.jsonl$/],
    [{ id: 'nul', run: 1 }, /^nul-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'x'.repeat(300), run: 1 }, /^x{60}-[0-9a-f]{8}\.jsonl$/],
  ])('%j', (about, expected) => {
    expect(cassetteFileName(about)).toMatch(expected);
  });

  it('differs for every id, run and cell, and does not depend on the order of variables', () => {
    const names = [
      { id: 'a', run: 1 },
      { id: 'a', run: 2 },
      { id: 'a.run-2', run: 1 },
      { id: 'a', run: 1, cell: { m: '1' } },
      { id: 'a', run: 1, cell: { m: '2' } },
      { id: 'a/b', run: 1 },
      { id: 'a b', run: 1 },
      { id: 'caf\u00e9', run: 1 },
      { id: 'cafe\u0301', run: 1 },
    ].map(cassetteFileName);
    // File systems of macOS ignore the form of an accent. Ids that differ only in case are rejected
    // earlier.
    expect(new Set(names.map((name) => name.toLowerCase().normalize('NFD'))).size).toBe(
      names.length,
    );
    expect(cassetteFileName({ id: 'a', run: 1, cell: { x: '1', y: '2' } })).toBe(
      cassetteFileName({ id: 'a', run: 1, cell: { y: '2', x: '1' } }),
    );
  });

  it('stays inside its folder, for any agent name', () => {
    for (const agent of ['../x', '..', '/etc', 'a/b', 'C:\\x'])
      expect(cassettePath('/d', { agent, id: 'q', run: 1 })).toMatch(
        /^\/d\/[A-Za-z0-9-]+\/q\.jsonl$/,
      );
  });
});

describe('the place of a cassette', () => {
  const makePipe = (path: string) => execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
  const place = () => {
    const root = tempDir({ 'cassettes/bot/other.jsonl': 'x\n', 'outside/a.jsonl': 'x\n' });
    const dir = join(root, 'cassettes');
    return { root, dir, path: join(dir, 'bot', 'a.jsonl') };
  };

  it.each([
    ['a pipe', 'is not a file', ({ path }) => makePipe(path)],
    ['a folder', 'is not a file', ({ path }) => mkdirSync(path)],
    [
      'a link to a pipe',
      'is not a file',
      ({ dir, path }) => {
        makePipe(join(dir, 'pipe'));
        symlinkSync(join(dir, 'pipe'), path);
      },
    ],
    [
      'a link to nothing',
      'is a link to a file that does not exist',
      ({ path }) => symlinkSync('nothing', path),
    ],
    [
      'a link to itself',
      'is a link that leads to itself',
      ({ path }) => symlinkSync('a.jsonl', path),
    ],
    [
      'a link out of the folder',
      'leads out of',
      ({ root, path }) => symlinkSync(join(root, 'outside/a.jsonl'), path),
    ],
  ] as readonly (readonly [string, string, (at: ReturnType<typeof place>) => void])[])(
    'is refused if it is %s, before anything is read or written',
    (_, why, make) => {
      const at = place();
      make(at);
      expect(() => checkCassettePlace(at.dir, at.path)).toThrow(why);
      expect(() => writeCassetteFile(at.dir, at.path, 'x\n')).toThrow(why);
    },
  );

  it('is refused if the folder is a dangling link, or a file', () => {
    const { root, path, dir } = place();
    symlinkSync('nothing', join(root, 'gone'));
    expect(() => checkCassettePlace(join(root, 'gone'), join(root, 'gone/bot/a.jsonl'))).toThrow(
      'is a link to a folder that does not exist',
    );
    writeFileSync(join(dir, 'plain'), '');
    expect(() => checkCassettePlace(dir, join(dir, 'plain/a.jsonl'))).toThrow(
      'is a file, and cassettes need a folder',
    );
    const below = join(dir, 'plain/bot/a.jsonl');
    expect(() => checkCassettePlace(dir, below)).toThrow('is a file, and cassettes need a folder');
    expect(() => writeCassetteFile(dir, below, 'x\n')).toThrow(
      'is a file, and cassettes need a folder',
    );
    expect(checkCassettePlace(dir, path)).toBeUndefined();
  });

  it('may be a link to a file of the same folder', () => {
    const { dir, path } = place();
    symlinkSync('other.jsonl', path);
    expect(checkCassettePlace(dir, path)?.size).toBe(2);
  });
});

it('is read as written even with a byte order mark, or line ends changed by Git', () => {
  const dir = tempDir({});
  const path = cassettePath(dir, { agent: 'a', id: 'q', run: 1 });
  writeCassetteFile(dir, path, '\ufeff{"first":1}\r\n{"second":2}\r\n');
  expect(readCassetteFile(dir, path)).toBe('{"first":1}\n{"second":2}\n');
  expect(JSON.parse(readCassetteHead(path) ?? '')).toEqual({ first: 1 });
});
