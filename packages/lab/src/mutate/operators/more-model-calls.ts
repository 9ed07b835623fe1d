import type { LlmStep, Step, Trace } from '@agentci/trace';
import { llmCalls } from '@agentci/trace';
import { freshId, withSteps } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'more-model-calls',
  layer: 'cost',
  summary: 'the model is called twice as often',
  sites: (trace) => {
    const calls = llmCalls(trace);
    if (calls.length === 0 || trace.captured.llmCalls !== 'full') return [];
    return [
      {
        what: 'twice the model calls',
        make: () => {
          const doubled = trace.steps.flatMap((step): Step[] =>
            step.kind === 'llm' ? [again(step), step] : [step],
          );
          const changed = withSteps(trace, doubled);
          const { reported, conversation } = trace;
          const turns = conversation?.turns.map((turn) => ({ ...turn, ...twice(turn.reported) }));
          return {
            ...changed,
            ...twice(reported),
            conversation:
              conversation === undefined
                ? changed.conversation
                : { ...conversation, turns: turns! },
          };
        },
        advice: [{ layer: 'cost', key: 'max_llm_calls', value: calls.length }],
      },
    ];

    /** A copy of the call before it, without tool calls, because those belong to the original. */
    function again({ output: _, responseId: __, ...step }: LlmStep): LlmStep {
      return { ...step, id: freshId(trace, `${step.id}-again`), finish: 'stop' };
    }
  },
});

const twice = (reported: Trace['reported']): Pick<Trace, 'reported'> =>
  reported?.llmCalls === undefined
    ? {}
    : { reported: { ...reported, llmCalls: reported.llmCalls * 2 } };
