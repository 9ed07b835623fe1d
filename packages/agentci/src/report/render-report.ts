import { CHECKS, isOfLayer } from '@agentci/checks';
import type { Report, ReportContext, Reporter } from '@agentci/reporters';
import { REPORTERS } from '@agentci/reporters';
import { LAYERS, type RunResult } from '@agentci/results';

export interface RenderOptions extends Partial<Omit<ReportContext, 'checkSummary' | 'evidence'>> {
  readonly format: keyof typeof REPORTERS;
  /** The recordings of the run, for reports that show them: a file or a folder. */
  readonly traces?: string;
  /** Base folder of relative paths. Default: the working directory. */
  readonly dir?: string;
}

/**
 * Renders a finished run. The same run gives the same bytes. Large documents come in pieces, which
 * `reportText` joins.
 */
export async function renderReport(run: RunResult, options: RenderOptions): Promise<Report> {
  const { format, traces, dir = process.cwd(), ...given } = options;
  const reporter: Reporter = await REPORTERS[format].load();
  const context: ReportContext = {
    color: false,
    columns: 80,
    hasStepSummary: false,
    quiet: false,
    publicPath: (file) => file,
    version: '',
    ...given,
    checkSummary,
  };
  if (!reporter.wantsEvidence) return reporter.render(run, context);
  // Loaded on demand: most reports need no traces.
  const { pageEvidence } = await import('./page-evidence.ts');
  return reporter.render(run, {
    ...context,
    evidence: await pageEvidence(run, { traces, cwd: dir }),
  });
}

const checkSummary = (id: string): string | undefined =>
  CHECKS.find((check) =>
    LAYERS.some((layer) => isOfLayer(check, layer) && `${layer}.${check.key}` === id),
  )?.summary;
