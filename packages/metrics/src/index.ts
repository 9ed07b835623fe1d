export { composite } from './composite.ts';
export { metric } from './conversation/turn-relevancy.ts';
export { cosine } from './cosine.ts';
export { type ActionSource, actionsOf, listItems } from './decision-quality/actions.ts';
export { categoryOf, isActionable } from './decision-quality/category.ts';
export {
  areWeights,
  DEFAULT_WEIGHTS,
  type DecisionQualityProfile,
  type DecisionQualityProfileChoice,
  type DecisionQualityWeights,
} from './decision-quality/profile.ts';
export { roundTo4 } from './decision-quality/round.ts';
export {
  type DecisionQuality,
  type DecisionQualityInput,
  scoreDecisionQuality,
  weighted,
} from './decision-quality/score-decision-quality.ts';
export { DEFAULT_METRICS } from './default-set.ts';
export { METRICS } from './index.gen.ts';
export type { Embeddings, LocalModels } from './local-models.ts';
export {
  defineMetric,
  type Metric,
  type MetricCase,
  type MetricDefinition,
  type MetricInput,
  type MetricOutput,
  measured,
  notMeasured,
} from './metric.ts';
export { EmergentBehaviorDetector } from './multi-agent/emergent-behavior-detector.ts';
export type {
  AgentInteraction,
  AgentRole,
  ConflictEvent,
  HandoffEvent,
  MultiAgentInput,
} from './multi-agent/inputs.ts';
export { InteractionAnalyzer } from './multi-agent/interaction-analyzer.ts';
export { multiAgentMetrics } from './multi-agent/multi-agent-metrics.ts';
export { NetworkAnalyzer } from './multi-agent/network-analyzer.ts';
export { isOwnParams } from './params.ts';
export {
  findMetric,
  type MetricLike,
  metricNames,
  registerMetric,
  resolveMetrics,
  toMetric,
} from './registry.ts';
export { countLoops } from './trajectory/count-loops.ts';
export { MATCH_MODES, type MatchMode, matchTools } from './trajectory/match-tools.ts';
export { editDistance, sequenceEdit } from './trajectory/sequence-edit.ts';
export { lcsLength, sequenceLcs } from './trajectory/sequence-lcs.ts';
export { toolF1 } from './trajectory/tool-f1.ts';
export { type ToolOverlap, toolOverlap } from './trajectory/tool-overlap.ts';
export { toolPrecision } from './trajectory/tool-precision.ts';
export { toolRecall } from './trajectory/tool-recall.ts';
