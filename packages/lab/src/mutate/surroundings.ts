import { caseKey } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { finalText, toolNames } from '@agentci/trace';
import { type NamedTool, toolsNamedIn } from './named-tools.ts';
import type { Surroundings } from './plan-mutants.ts';

/** All tools and answers in the recordings of a suite. */
export class SuiteWorld {
  readonly #tools: readonly NamedTool[];
  readonly #answers = new Map<string, string>();
  readonly #named: ReadonlyMap<string, readonly NamedTool[]>;

  constructor({ queries }: Suite, recordings: ReadonlyMap<string, readonly Trace[]>) {
    this.#named = new Map(queries.map((query) => [caseKey(query), toolsNamedIn(query)]));
    const tools = new Set(
      [...this.#named.values()].flatMap((named) => named.map(({ name }) => name)),
    );
    for (const query of queries)
      for (const trace of recordings.get(caseKey(query)) ?? []) {
        for (const name of toolNames(trace)) tools.add(name);
        const answer = finalText(trace);
        if (answer !== undefined && answer.trim() !== '') this.#answers.set(query.id, answer);
      }
    this.#tools = [...tools].sort().map((name) => ({ name }));
  }

  around(query: Query, trace: Trace): Surroundings {
    const taken = new Set(toolNames(trace));
    const answer = finalText(trace);
    // Tools named in the query come first, because a rule against a tool should be tried with that
    // tool.
    const others: NamedTool[] = [];
    for (const tool of [...(this.#named.get(caseKey(query)) ?? []), ...this.#tools]) {
      if (taken.has(tool.name)) continue;
      taken.add(tool.name);
      others.push(tool);
    }
    return {
      query,
      otherTools: others.map(({ name }) => name),
      otherArguments: new Map(
        others.flatMap(({ name, args }) => (args === undefined ? [] : [[name, args]])),
      ),
      otherAnswers: [...this.#answers]
        .filter(([id, text]) => id !== query.id && text !== answer)
        .map(([, text]) => text),
    };
  }
}
