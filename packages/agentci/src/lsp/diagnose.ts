import { dirname, join, relative } from 'node:path';
import type { Diagnostic } from '@agentci/lib/problems';
import type { ReadPolicyFile } from '@agentci/policy';
import { parsePolicy, ROOT_KEYS } from '@agentci/policy';
import type { Suite } from '@agentci/spec';
import { DISK, parseSpec, realPath, type SpecFiles, SpecFolder } from '@agentci/spec';

/** Kind of a document. */
export type DocumentKind = 'spec' | 'policy' | 'other';

export interface Diagnosis {
  readonly kind: DocumentKind;
  /** Diagnostics of the file and its includes. */
  readonly diagnostics: readonly Diagnostic[];
  readonly suite?: Suite;
}

const SPEC_NAME = /agentci_spec|(?:^|[.\-_])agentci[.\-_]/i;
const POLICY_NAME = /polic(?:y|ies)/i;
/** Policy keys that also occur in other files, so they do not identify a policy. */
const COMMON_KEYS = ['version', 'name', 'description'];
const PART_KEYS = ['definitions', '\\$defs', 'examples'];
const RULE_KEYS = ROOT_KEYS.filter((key) => !['$defs', ...COMMON_KEYS, ...PART_KEYS].includes(key));
const isWritten = (keys: string, text: string): boolean =>
  new RegExp(`^(?:${keys})\\s*:`, 'm').test(text);

/**
 * Decides by the top-level keys, else by the name: an empty file called `agentci_spec.yaml` is a
 * spec.
 */
export function documentKind(file: string, text: string): DocumentKind {
  const name = file.split(/[\\/]/).at(-1) ?? '';
  if (SPEC_NAME.test(name)) return 'spec';
  if (isWritten('queries', text) && isWritten('agent|runner|defaults|version', text)) return 'spec';
  if (isWritten('suite', text) && isWritten('tests', text)) return 'spec';
  const isPolicy = POLICY_NAME.test(name)
    ? isWritten([...RULE_KEYS, ...PART_KEYS].join('|'), text)
    : isWritten(RULE_KEYS.join('|'), text) && isWritten('version', text);
  return isPolicy ? 'policy' : 'other';
}

/**
 * Diagnoses the editor's text like `agentci validate`. `file` is only its location and is not read.
 * Other files are read through `files`.
 */
export function diagnose(
  file: string,
  text: string,
  kind = documentKind(file, text),
  files = DISK,
): Diagnosis {
  if (kind === 'spec') return { kind, ...parseSpec(text, { file, files }) };
  if (kind === 'policy')
    return {
      kind,
      diagnostics: parsePolicy(text, { file, readFile: readBeside(file, files) }).diagnostics,
    };
  return { kind, diagnostics: [] };
}

/** Reads files that a policy refers to, within its folder. */
function readBeside(policy: string, files: SpecFiles): ReadPolicyFile {
  const folder = SpecFolder.of(policy, files);
  return (path, from) => {
    const found = folder.find(path, dirname(realPath(from, files)));
    if (!found.ok) return { ok: false, message: `no file "${path}" in the policy's folder` };
    const text = files.readText(found.path);
    if (text === undefined)
      return { ok: false, message: `"${path}" is not UTF-8 text of at most 10 MB` };
    return { ok: true, file: join(dirname(policy), relative(folder.path, found.path)), text };
  };
}
