import type { SourceFile } from '../../folder.ts';
import type { Vars } from './render.ts';
import type { Test } from './tests.ts';

const MAX_COMBINATIONS = 10_000;

export type Combination = { readonly vars: Vars; readonly why?: string };

/**
 * One set of variables for every combination: a list of texts is several values, and so is a path
 * with wildcards.
 */
export function combinations({ vars, options }: Test, file: SourceFile): readonly Combination[] {
  let made: { vars: Record<string, unknown>; why?: string }[] = [{ vars: {} }];
  for (const [name, written] of Object.entries(vars)) {
    const values = valuesOf(written, options.disableVarExpansion === true, file);
    if (made.length * values.length > MAX_COMBINATIONS)
      return [{ vars, why: `its variables make more than ${MAX_COMBINATIONS} combinations` }];
    made = made.flatMap((one) =>
      values.map(({ value, why }) => ({
        vars: { ...one.vars, [name]: value },
        why: one.why === undefined && why === undefined ? undefined : (one.why ?? why!),
      })),
    );
  }
  return made;
}

function valuesOf(
  written: unknown,
  isWhole: boolean,
  file: SourceFile,
): readonly { readonly value: unknown; readonly why?: string }[] {
  if (typeof written === 'string' && written.startsWith('file://'))
    return readVariable(written.slice('file://'.length), file);
  if (isWhole || !Array.isArray(written) || typeof written[0] !== 'string')
    return [{ value: written }];
  return written.flatMap((value) =>
    typeof value === 'string' && value.startsWith('file://')
      ? readVariable(value.slice('file://'.length), file)
      : [{ value: value as unknown }],
  );
}

function readVariable(
  path: string,
  file: SourceFile,
): readonly { readonly value: unknown; readonly why?: string }[] {
  if (/\.(?:[cm]?[jt]s|py)(?::[\w.]+)?$/.test(path))
    return [{ value: '', why: `the variable comes from ${path}, which is code and not run` }];
  if (/\.(?:pdf|png|jpe?g|gif|webp|mp3|wav|mp4|mov|webm|svg|docx?|xlsx?)$/i.test(path))
    return [{ value: '', why: `the variable is the file ${path}, which is not text` }];
  return file.matching(path).map((found) => ({
    value:
      found.extension === '.yaml' || found.extension === '.yml'
        ? JSON.stringify(found.value)
        : found.text.trim(),
  }));
}
