import { chmodSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { ioOf } from '../../test/support/io.ts';
import { installGuard } from './install-guard.ts';

const NODE = { command: 'node', args: ['server.mjs'] };

/** A folder with a policy and a configuration, and ways to inspect both. */
function setUp(config: object, { path = [] }: { readonly path?: readonly string[] } = {}) {
  const files = {
    'policy.yaml': 'rules: [{type: max_calls, tool: a, max: 1}]\n',
    'client.json': config,
  };
  const programs = path.map((folder) => join(folder, 'agentci'));
  const cwd = tempDir({
    ...files,
    ...Object.fromEntries(programs.map((program) => [program, ''])),
  });
  for (const program of programs) chmodSync(join(cwd, program), 0o755);
  const { io, written } = ioOf(cwd, {
    env: { PATH: path.map((folder) => join(cwd, folder)).join(delimiter) },
  });
  const install = (flags: object = {}) =>
    installGuard({ config: 'client.json', policy: 'policy.yaml', ...flags }, io);
  const read = () => JSON.parse(readFileSync(join(cwd, 'client.json'), 'utf8'));
  return { install, read, stderr: () => written.stderr };
}

describe('guard install', () => {
  test.each<[string, object, string[]]>([
    ['--mode shadow', { mode: 'shadow' }, ['--mode', 'shadow']],
    ['--strict', { strict: true }, ['--strict']],
    ['--audit-args hash', { auditArgs: 'hash' }, ['--audit-args', 'hash']],
    ['--deny-as error', { denyAs: 'error' }, ['--deny-as', 'error']],
    ['--agent', { agent: 'billing' }, ['--agent', 'billing']],
    ['--scope process', { scope: 'process' }, ['--scope', 'process']],
  ])('carries %s over to the guard of the server', async (_, flags, expected) => {
    const { install, read } = setUp({ mcpServers: { fs: NODE } });
    expect(await install(flags)).toBe(0);
    const { args } = read().mcpServers.fs as { args: string[] };
    const options = args.slice(args.indexOf('--server') + 2, args.indexOf('--'));
    expect(options).toEqual(expected);
  });

  test.each<[string, object]>([
    ['--server', { server: 'x' }],
    ['--url', { url: 'https://example.com/mcp' }],
    ['--listen', { listen: '127.0.0.1:7300' }],
  ])('refuses %s, which is about one server', async (option, flags) => {
    const { install, read } = setUp({ mcpServers: { fs: NODE } });
    await expect(install(flags)).rejects.toThrow(`${option} cannot be installed`);
    expect(read()).toEqual({ mcpServers: { fs: NODE } });
  });

  test.each<[string, object]>([
    [
      'of projects',
      { projects: { '/a': { mcpServers: { fs: NODE } }, '/b': { mcpServers: { fs: NODE } } } },
    ],
    [
      'at the top and of a project',
      { mcpServers: { fs: NODE }, projects: { '/a': { mcpServers: { z: NODE } } } },
    ],
    ['in two lists', { mcpServers: { fs: NODE }, servers: { z: NODE } }],
    ['under mcp', { mcp: { servers: { fs: NODE, z: NODE } } }],
    ['under a key with a prefix', { 'amp.mcpServers': { fs: NODE, z: NODE } }],
  ])(
    'guards the servers %s, each with a separate log, and --undo removes the guard',
    async (_, config) => {
      const { install, read, stderr } = setUp(config);
      expect(await install({ audit: 'audit.jsonl' })).toBe(0);
      expect(stderr()).toContain('guarded 2 of 2 servers');
      const written = JSON.stringify(read());
      expect(written.match(/"guard","--policy"/g)).toHaveLength(2);
      expect(new Set(written.match(/audit-[\w-]+\.jsonl/g)).size).toBe(2);
      expect(await install({ undo: true })).toBe(0);
      expect(read()).toEqual(config);
    },
  );

  test('names a server of a project that it cannot guard, and exits with 2', async () => {
    const { install, stderr } = setUp({
      projects: { '/a': { mcpServers: { web: { url: 'https://x.example' } } } },
    });
    expect(await install()).toBe(2);
    expect(stderr()).toMatch(/projects\.\/a\.web is reached by HTTP.*GUARD_NOT_WRAPPED/);
  });

  test.each<[string, string[], boolean]>([
    ['a folder of the user', ['bin'], true],
    ['nowhere', [], false],
    ['node_modules/.bin', ['node_modules/.bin'], false],
    ["npx's own folder", ['.npm/_npx/1f2e/node_modules/.bin'], false],
    ['a folder of yarn dlx', ['xfs-1a2b'], false],
    ['node_modules/.bin and a folder of the user', ['node_modules/.bin', 'bin'], true],
  ])('with the program in %s', async (_, path, isByName) => {
    const { install, read } = setUp({ mcpServers: { fs: NODE } }, { path });
    await install();
    const { command, args } = read().mcpServers.fs;
    expect(command).toBe(isByName ? 'agentci' : process.execPath);
    expect(args.indexOf('guard')).toBe(isByName ? 0 : 1);
  });
});
