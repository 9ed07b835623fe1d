import { readFileSync, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { formatDiagnostic, UserError } from '@agentci/lib/problems';
import { escapeTerminal } from '@agentci/lib/text';
import { MAX_YAML_SIZE } from '@agentci/lib/yaml';
import type { Policy } from '@agentci/policy';
import { parsePolicy } from '@agentci/policy';
import type { Io } from '../cli/io.ts';
import { specPath } from '../stored-runs/spec-folders.ts';

/** Reads a policy file and its references. Prints warnings. Throws if the policy has errors. */
export function loadPolicy(
  path: string,
  { strict, io }: { readonly strict: boolean; readonly io: Io },
): Policy {
  const file = specPath(path, io.cwd);
  const folder = dirname(resolve(io.cwd, file));
  const { policy, diagnostics } = parsePolicy(readText(resolve(io.cwd, file), file), {
    file,
    strict,
    readFile: (wish, from) => {
      const wanted = resolve(dirname(resolve(io.cwd, from)), wish);
      const way = relative(folder, wanted);
      if (way === '..' || way.startsWith(`..${sep}`))
        return { ok: false, message: `"${wish}" lies outside the policy's folder` };
      try {
        return { ok: true, file: specPath(wanted, io.cwd), text: readText(wanted, wish) };
      } catch (error) {
        if (error instanceof UserError) return { ok: false, message: error.message };
        throw error;
      }
    },
  });
  if (policy === undefined) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    throw new UserError(
      'POLICY_INVALID',
      `${file} has ${errors} ${errors === 1 ? 'problem' : 'problems'}`,
      {
        diagnostics,
      },
    );
  }
  for (const warning of diagnostics)
    io.stderr.write(`${escapeTerminal(formatDiagnostic(warning))}\n`);
  return policy;
}

function readText(path: string, name: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > MAX_YAML_SIZE)
      throw new Error('it is not a file of at most 10 MB');
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why =
      code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? (cause as Error).message})`;
    throw new UserError('FILE_UNREADABLE', `"${name}" ${why}`, { cause });
  }
}

export const FORMATS = ['terminal', 'markdown', 'html', 'json'] as const;

export interface PolicyOptions {
  readonly policy?: string;
  readonly traces?: string;
  readonly traceFormat?: string;
  readonly format?: (typeof FORMATS)[number];
  readonly json?: boolean;
  readonly output?: string;
  readonly minCoverage?: number;
  readonly strict?: boolean;
  readonly force?: boolean;
}

/** Output and exit code of an action. */
export interface PolicyReport {
  readonly text: string;
  readonly code: number;
}

export async function readPolicy(
  { policy, strict = false }: PolicyOptions,
  io: Io,
): Promise<Policy> {
  if (policy === undefined)
    throw new UserError('OPTION_INVALID', 'a policy is needed: --policy FILE');
  return loadPolicy(policy, { strict, io });
}
