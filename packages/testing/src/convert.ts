import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Conversion, convertSuite, readSuites, SPEC_FILE } from '@agentci/convert';
import type { Diagnostic } from '@agentci/lib/problems';
import { runSuite } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { loadSpec, SpecError } from '@agentci/spec';
import { simpleTrace } from '@agentci/trace';
import { tempDir } from './temp-dir.ts';

interface Options {
  readonly paths?: readonly string[];
  readonly from?: string;
  readonly map?: Readonly<Record<string, string>>;
  readonly lossy?: boolean;
}

export interface Converted extends Conversion {
  readonly spec: string;
  readonly suite: Suite;
  /** Types and verdicts in the report, in order. */
  readonly verdicts: readonly string[];
  /** The status of every query for these answers of the agent. */
  readonly judge: (traces: readonly object[]) => Promise<Record<string, string>>;
}

/** Converts files like the command without printing: writes the result and loads it. */
export async function convertFiles(
  files: Readonly<Record<string, string | object>>,
  { paths = Object.keys(files).slice(0, 1), from, map = {}, lossy = false }: Options = {},
): Promise<Converted> {
  const dir = tempDir(files);
  const out = tempDir();
  const validate = async (made: ReadonlyMap<string, string>): Promise<readonly Diagnostic[]> => {
    for (const [name, text] of made) {
      mkdirSync(dirname(join(out, name)), { recursive: true });
      writeFileSync(join(out, name), text);
    }
    try {
      return (await loadSpec(join(out, SPEC_FILE))).diagnostics;
    } catch (error) {
      if (error instanceof SpecError) return error.diagnostics;
      throw error;
    }
  };
  const read = readSuites(paths, {
    cwd: dir,
    outDir: out,
    map,
    ...(from === undefined ? {} : { from }),
  });
  const made = await convertSuite(read.suite, {
    from: read.from,
    title: 'suite',
    agent: 'agent',
    lossy,
    folder: '',
    validate,
  });
  await validate(made.files);
  const { suite } = await loadSpec(join(out, SPEC_FILE));
  return {
    ...made,
    spec: made.files.get(SPEC_FILE)!,
    suite,
    verdicts: made.report.assertions.map(({ type, verdict }) => `${type} ${verdict}`),
    judge: async (traces) => {
      const { results } = await runSuite({
        suite,
        traces: traces.map((one) => simpleTrace(one)),
        judge: 'off',
      });
      return Object.fromEntries(results.map(({ id, status }) => [id, status]));
    },
  };
}
