import type {
  CheckResult,
  ConversationResult,
  Layer,
  QueryResult,
  TurnResult,
} from '@agentci/results';
import { LAYERS, TRUNCATED, toWarnings, worseStatus, worstStatus } from '@agentci/results';
import type { Query, TurnChecks } from '@agentci/spec';
import { queryOfTurn } from '@agentci/spec';
import type { Trace, Turn } from '@agentci/trace';
import {
  answerOfTurn,
  captures,
  toolCalls,
  toolNames,
  totals,
  traceOfTurn,
  turnsOf,
} from '@agentci/trace';
import { errorResult } from './combine-runs.ts';
import { endCheck, overlongReason, unansweredTurn, unfinishedReason } from './conversation-end.ts';
import type { TurnError } from './converse.ts';
import { endStateCheck } from './end-state-check.ts';
import type { EvaluateInput } from './evaluate-input.ts';
import { statusOf, withChecks } from './join-checks.ts';
import { userFaults } from './user-fault.ts';

type Evaluate = (input: EvaluateInput) => Promise<QueryResult>;

interface CheckedTurn {
  readonly turn: number;
  readonly layer: Layer;
  readonly check: CheckResult;
}

/**
 * The verdict on a conversation: the checks on the whole, the checks on single turns, and the end
 * state. Checks on a turn see only that turn, and appear in the layers of the result as
 * `path.turn[2].forbidden_tools`.
 */
export async function evaluateConversation(
  input: EvaluateInput,
  evaluate: Evaluate,
): Promise<QueryResult> {
  const { query, trace } = input;
  const fault = trace.conversation?.fault ?? userFaults(query, trace)[0];
  if (fault?.kind === 'simulator') {
    const failed = errorResult(query, { kind: 'simulator', message: fault.message });
    // A model that gave no answer at all made no mistake.
    return {
      ...failed,
      conversation: conversationOf(trace, [], fault.unavailable === true ? undefined : 'user'),
    };
  }
  const extra = query.conversation && overlongReason(query.conversation, trace);
  if (extra !== undefined)
    return {
      ...errorResult(query, extra),
      ...withWarnings(trace),
      conversation: conversationOf(trace, [], undefined),
    };
  const unanswered = query.conversation && unansweredTurn(query.conversation, trace);
  // The reason of the end is more specific than an unanswered last message.
  if (unanswered !== undefined && unfinishedReason(trace) === undefined) {
    const failed = { ...errorResult(query, unanswered), ...withWarnings(trace) };
    return { ...failed, conversation: conversationOf(trace, [], undefined) };
  }
  const whole = await evaluate(input);
  if (whole.error !== undefined)
    return { ...whole, conversation: conversationOf(trace, [], blameOf(trace)) };
  const checked: CheckedTurn[] = [];
  for (const turn of query.turns ?? []) checked.push(...(await checkTurn(input, turn, evaluate)));
  const result: QueryResult = { ...whole };
  for (const layer of LAYERS) {
    const checks = checked.filter((each) => each.layer === layer).map(({ check }) => check);
    result[layer] = withChecks(result[layer], { checks, details: {} });
  }
  if (query.state !== undefined) {
    const state = endStateCheck(query, query.state, trace);
    result.correctness = withChecks(result.correctness, { checks: [state], details: {} });
  }
  const end = query.conversation && endCheck(query, query.conversation, trace);
  if (end !== undefined)
    result.correctness = withChecks(result.correctness, { checks: [end], details: {} });
  result.status = statusOf(result);
  if (fault !== undefined) {
    result.error = { kind: fault.kind, message: fault.message };
    result.status = worseStatus(result.status, 'error');
  }
  if (query.conversation === undefined) return result;
  let blame: 'user' | 'agent' | undefined;
  if (result.status === 'fail') blame = 'agent';
  else if (fault === undefined) blame = undefined;
  else blame = 'user';
  return { ...result, conversation: conversationOf(trace, checked, blame) };
}

/** The party that prevented a verdict on the conversation. For a limit it is neither. */
function blameOf({ conversation }: Trace): ConversationResult['blame'] {
  const ending = conversation?.ending;
  if (ending === 'out_of_scope') return 'user';
  return ending === 'timeout' || ending === 'budget' ? undefined : 'agent';
}

const withWarnings = ({ warnings }: Trace): Pick<QueryResult, 'warnings'> =>
  warnings.length === 0 ? {} : { warnings: toWarnings(warnings) };

async function checkTurn(
  input: EvaluateInput,
  checks: TurnChecks,
  evaluate: Evaluate,
): Promise<CheckedTurn[]> {
  const { query, trace } = input;
  const slice = traceOfTurn(trace, checks.turn);
  if (slice === undefined) return missingTurn(checks, trace);
  const asked = turnsOf(trace).find(({ turn }) => turn === checks.turn)?.message ?? query.query;
  const { baseline, policies: _, ...rest } = input;
  const before = baseline && traceOfTurn(baseline.trace, checks.turn);
  const result = await evaluate({
    ...rest,
    query: queryOfTurn(query, checks, asked),
    trace: slice,
    baseline: before === undefined ? undefined : { ...baseline!, trace: before },
  });
  if (result.error !== undefined)
    return eachCheck(checks).map(({ layer, key }) => ({
      turn: checks.turn,
      layer,
      check: {
        ...nameOf(layer, checks, key),
        status: 'error',
        message: atTurn(checks.turn, result.error!.message),
        evidence: [],
      },
    }));
  return LAYERS.flatMap((layer) =>
    result[layer].checks
      .filter(({ id }) => id !== TRUNCATED)
      .map((check) => ({
        turn: checks.turn,
        layer,
        check: {
          ...check,
          id: idAtTurn(check.id, layer, checks.turn),
          message: atTurn(checks.turn, check.message),
          wanted:
            check.wanted === undefined ? check.wanted : `In turn ${checks.turn}: ${check.wanted}`,
        },
      })),
  );
}

const atTurn = (turn: number, message: string): string => `turn ${turn}: ${message}`;
const idAtTurn = (id: string, layer: Layer, turn: number): string =>
  `${layer}.turn[${turn}].${id.startsWith(`${layer}.`) ? id.slice(layer.length + 1) : id}`;

const eachCheck = (checks: TurnChecks): { layer: Layer; key: string }[] =>
  LAYERS.flatMap((layer) =>
    Object.keys(checks[layer] ?? {})
      .filter((key) => key !== 'severity')
      .map((key) => ({ layer, key })),
  );

function nameOf(
  layer: Layer,
  { turn, locations }: TurnChecks,
  key: string,
): Pick<CheckResult, 'id' | 'location'> {
  const location = locations[`${layer}.${key}`];
  return { id: `${layer}.turn[${turn}].${key}`, location };
}

/** A missing turn proves nothing, whatever its checks. */
function missingTurn(checks: TurnChecks, trace: Trace): CheckedTurn[] {
  const came = turnsOf(trace).length;
  const ending = trace.conversation?.ending;
  const why = `the conversation ended after turn ${came}${ending === undefined ? '' : ` (${ending})`}`;
  return eachCheck(checks).map(({ layer, key }) => ({
    turn: checks.turn,
    layer,
    check: {
      ...nameOf(layer, checks, key),
      status: 'error',
      message: `turn_missing: ${why}, so ${key} of turn ${checks.turn} could not be checked`,
      evidence: [],
    },
  }));
}

/** The conversation for reports. */
export function conversationOf(
  trace: Trace,
  checked: readonly CheckedTurn[],
  blame: ConversationResult['blame'],
): ConversationResult {
  const ending = trace.conversation?.ending;
  return {
    ending,
    turns: turnsOf(trace).map((turn) => turnResult(trace, turn, checked)),
    blame,
  };
}

function turnResult(trace: Trace, turn: Turn, checked: readonly CheckedTurn[]): TurnResult {
  const slice = traceOfTurn(trace, turn.turn) ?? trace;
  const own = checked.filter((each) => each.turn === turn.turn).map(({ check }) => check);
  const { latencyMs } = totals(slice);
  return {
    turn: turn.turn,
    user: turn.message,
    answer: answerOfTurn(turn) ?? null,
    tools: captures(slice, 'toolCalls') ? toolNames(slice) : null,
    ...failedTools(slice),
    latency_ms: latencyMs.exact ? latencyMs.value : null,
    status: worstStatus(own.map(({ status }) => status)),
    checks: own.map(({ id }) => id),
  };
}

function failedTools(slice: Trace): Pick<TurnResult, 'failed_tools'> {
  const failed = toolCalls(slice).flatMap(({ status, error }, i) =>
    error !== undefined || status === 'error' ? [i] : [],
  );
  return failed.length === 0 ? {} : { failed_tools: failed };
}

/** The result of a conversation that the agent did not finish, with the messages so far. */
export function unfinished(
  query: Query,
  error: NonNullable<QueryResult['error']>,
  said: Pick<TurnError, 'before' | 'turn' | 'unanswered' | 'isTimeout'>,
): QueryResult {
  const before = said.before === undefined ? undefined : conversationOf(said.before, [], 'agent');
  const last: TurnResult = {
    turn: said.turn,
    user: said.unanswered,
    answer: null,
    tools: null,
    latency_ms: null,
    status: 'error',
    checks: [],
  };
  return {
    ...errorResult(query, error),
    conversation: {
      ending: said.isTimeout ? 'timeout' : 'error',
      turns: [...(before?.turns ?? []), last],
      blame: error.kind === 'agent' ? ('agent' as const) : undefined,
    },
  };
}
