import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { casesText } from '@agentci/results';
import { BaselineSet, listBaselineFiles, listRuns, usableBaselines } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { loadSpec } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { runsRoot } from '../stored-runs/spec-folders.ts';
import { captureFinding } from './capture.ts';
import type { Finding } from './finding.ts';
import { judgeFinding } from './judge.ts';
import { runnerFinding } from './runner.ts';

const OLDEST_NODE = [20, 19] as const;

/**
 * Checks everything a run needs, without running anything unless the capture is to be tried. A
 * problem that would keep `agentci test` from a verdict is a failure. Keys are named, never shown.
 */
export async function examine(
  spec: string,
  io: Io,
  {
    nodeVersion,
    traces,
    triesCapture = false,
  }: {
    readonly nodeVersion: string;
    readonly traces?: string | undefined;
    readonly triesCapture?: boolean;
  },
): Promise<Finding[]> {
  const findings = [nodeFinding(nodeVersion)];
  const suite = await specFinding(spec, findings);
  if (suite) {
    const runner = await runnerFinding(suite, io, traces);
    const capture =
      traces === undefined ? await captureFinding(suite, io, triesCapture) : undefined;
    findings.push(
      runner,
      ...(capture === undefined ? [] : [capture]),
      ...useFindings(suite),
      judgeFinding(suite, io),
      baselineFinding(suite, io),
    );
  }
  findings.push(storeFinding(spec, io));
  return findings;
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOk = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (isOk) return { what: 'node', status: 'ok', detail: version };
  return {
    what: 'node',
    status: 'fail',
    detail: version,
    fix: `Install Node ${OLDEST_NODE.join('.')} or newer.`,
  };
}

async function specFinding(file: string, findings: Finding[]): Promise<Suite | undefined> {
  try {
    const { suite, diagnostics } = await loadSpec(file);
    const detail = `${file}: ${casesText(suite.queries)}, ${plural(diagnostics.length, 'warning')}`;
    findings.push(
      diagnostics.length === 0
        ? { what: 'spec', status: 'ok', detail }
        : { what: 'spec', status: 'warn', detail, fix: `agentci validate ${file} lists them.` },
    );
    return suite;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [detail = ''] = error.message.split('\n', 1);
    const fix =
      error.diagnostics.length > 0
        ? `agentci validate ${file} shows every mistake.`
        : (error.hint ?? 'Name the spec with -c.');
    findings.push({ what: 'spec', status: 'fail', detail, fix });
    return undefined;
  }
}

function useFindings({ use, dir }: Suite): Finding[] {
  return use
    .filter((path) => !existsSync(resolve(dir, path)))
    .map((path) => ({
      what: 'use',
      status: 'fail',
      detail: `no file "${path}"`,
      fix: 'The path is relative to the spec.',
    }));
}

function baselineFinding(suite: Suite, io: Io): Finding {
  const what = 'baselines';
  const dir = resolve(io.cwd, suite.dir, suite.baselineDir);
  try {
    const list = listBaselineFiles(dir, suite.agent);
    const files = usableBaselines(list, undefined);
    // Throws if the spec names a baseline version that does not exist.
    if (suite.baseline !== undefined) new BaselineSet(suite, { dir });
    const versions = [...new Set(files.map(({ version }) => version))];
    const detail =
      versions.length === 0 ? 'none saved yet' : `${files.length} in ${versions.join(', ')}`;
    return { what, status: 'ok', detail };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return {
      what,
      status: 'fail',
      detail: error.message,
      fix: error.hint ?? 'Restore the file or delete it.',
    };
  }
}

function storeFinding(file: string, io: Io): Finding {
  const runs = listRuns(runsRoot(dirname(resolve(io.cwd, file))));
  const open = runs.filter(({ finished }) => !finished).length;
  const detail =
    runs.length === 0 ? 'no run stored here yet' : `${runs.length} stored, ${open} unfinished`;
  return open === 0
    ? { what: 'runs', status: 'ok', detail }
    : { what: 'runs', status: 'ok', detail: `${detail} (--resume continues one)` };
}
