export { compareConditions } from './compare-conditions.ts';
export {
  type ExperimentOverrides,
  loadExperiment,
  type ParsedExperiment,
  parseExperiment,
} from './load-experiment.ts';
export { measureRatings, type RatingsOptions } from './measure-ratings.ts';
export type { ConditionPlan, ConditionSource, ExperimentPlan } from './plan.ts';
export { relativeImprovement } from './relative-improvement.ts';
export { renderAgreement } from './report/agreement.ts';
export { renderConsole } from './report/console.ts';
export { renderCsv, renderTrialsCsv } from './report/csv.ts';
export { renderFigure } from './report/figure.ts';
export { renderHtml } from './report/html.ts';
export { renderLatex } from './report/latex.ts';
export { renderMarkdown } from './report/markdown.ts';
export type { ExperimentEvent } from './run-condition.ts';
export { type ExperimentOptions, runExperiment } from './run-experiment.ts';
export { type SensitivityOptions, weightSensitivity } from './weight-sensitivity.ts';
