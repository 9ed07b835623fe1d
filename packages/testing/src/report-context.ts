import type { ReportContext } from '@agentci/reporters';

/** What a reporter knows of its surroundings, unless a test says otherwise. */
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
