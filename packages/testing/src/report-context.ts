import type { ReportContext } from '@agentci/reporters';

/** The default context of reporters. */
export const reportContext = (rest: Partial<ReportContext> = {}): ReportContext => ({
  color: false,
  columns: 100,
  hasStepSummary: true,
  quiet: false,
  publicPath: (file) => file,
  checkSummary: () => undefined,
  version: '0.0.0',
  ...rest,
});
