import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ReportContext, reportText } from '@agentci/reporters';
import { reporter } from '@agentci/reporters/html';
import type { RunResult } from '@agentci/results';
import { reportContext } from '@agentci/testing/report-context';
import { onTestFinished } from 'vitest';

/** Writes the report of a run to a file and returns its `file://` URL. */
export function writeReport(run: RunResult, rest: Partial<ReportContext> = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-page-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'report.html');
  writeFileSync(file, reportText(reporter.render(run, reportContext(rest))));
  return pathToFileURL(file).href;
}
