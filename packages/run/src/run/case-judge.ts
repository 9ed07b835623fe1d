import { resolve } from 'node:path';
import type { QueryResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { llmCalls } from '@agentci/trace';
import { type BaselineLookup, BaselineSet } from './choose-baselines.ts';
import { needsOutside } from './collect-asks.ts';
import { createEvaluator, type TraceEvaluator } from './evaluate-trace.ts';
import type { suiteOutside } from './external-answers.ts';
import type { CasePlan } from './plan-cases.ts';
import type { RunOptions } from './run-options.ts';
import type { RunParts } from './run-parts.ts';
import { type SuiteJudge, suiteJudge } from './suite-judge.ts';
import { ToolNameCollector } from './tool-name-collector.ts';
import type { UserAuditor } from './user-audit.ts';

/** Names come from recordings, so a longer list does not consist of model names. */
const MAX_MODELS = 20;

interface Collaborators {
  readonly baselines: BaselineLookup;
  readonly judges: SuiteJudge;
  readonly outside: ReturnType<typeof suiteOutside> | undefined;
  readonly audit: UserAuditor | undefined;
}

/** Judges the runs, and collects the facts that are decided over all traces. */
export class CaseJudge {
  readonly toolNames: ToolNameCollector;
  readonly #with: Collaborators;
  readonly #evaluate: TraceEvaluator;
  readonly #models = new Set<string>();

  static async open(options: RunOptions, plan: CasePlan): Promise<CaseJudge> {
    const { suite } = options;
    const { queries, selected, ledger } = plan;
    const baselines = options.ignoresBaselines
      ? BaselineSet.empty
      : new BaselineSet(suite, {
          dir: options.baselineDir ?? resolve(suite.dir, suite.baselineDir),
          version: options.baseline,
        });
    const judges = suiteJudge(options, queries, ledger);
    const outside = await openOutside(options, queries, judges);
    const audit = options.auditUser
      ? new (await import('./user-audit.ts')).UserAuditor(options, selected, ledger)
      : undefined;
    return new CaseJudge(options, plan, { baselines, judges, outside, audit });
  }

  constructor(options: RunOptions, { selected, metrics }: CasePlan, collaborators: Collaborators) {
    // Rules over all shards are decided once, from the tools that all shards saw.
    this.toolNames = new ToolNameCollector(selected);
    if (options.resumed !== undefined && options.resumed.length > 0) this.toolNames.notSeen();
    this.#with = collaborators;
    const { judges, baselines, outside } = collaborators;
    this.#evaluate = createEvaluator(judges, baselines, options.suite.dir, { metrics, outside });
  }

  judge = async (query: Query, trace: Trace): Promise<QueryResult> => {
    this.toolNames.see(trace);
    for (const { model } of llmCalls(trace))
      if (model !== undefined && this.#models.size < MAX_MODELS) this.#models.add(model);
    await this.#with.audit?.look(query, trace);
    return this.#evaluate(query, trace);
  };

  parts(): Pick<RunParts, 'models' | 'outside' | 'tools' | 'judge' | 'audit' | 'baselines'> {
    const { baselines, judges, outside, audit } = this.#with;
    return {
      models: [...this.#models].sort(),
      outside: outside?.checks() ?? [],
      tools: this.toolNames.seenTools(),
      judge: judges.parts(),
      audit: audit?.parts(),
      baselines: baselines.notices,
    };
  }

  /** Ends the processes of the user's own checks. */
  async close(): Promise<void> {
    await this.#with.outside?.close();
  }
}

/** Opens the services that run the user's code and compare meanings, if a check needs them. */
export async function openOutside(
  options: RunOptions,
  queries: readonly Query[],
  judges: SuiteJudge,
): Promise<ReturnType<typeof suiteOutside> | undefined> {
  if (!queries.some(needsOutside)) return undefined;
  const { suiteOutside } = await import('./external-answers.ts');
  return suiteOutside(options, judges.judge);
}
