import type { Capability } from '@agentci/trace';

interface GapKind {
  readonly code: string;
  /** What happened, and why calls may be missing. */
  readonly says: string;
  /** Capabilities that are at best partly known because of it. */
  readonly hides: readonly Capability[];
}

const CALLS = ['toolCalls', 'handoffs'] as const;
const EVERYTHING = ['toolCalls', 'handoffs', 'llmCalls'] as const;

/**
 * Signs that a recording is incomplete. The builder looks for most of them, and adapters report the
 * rest.
 */
export const GAPS = {
  tapBroken: {
    code: 'MCP_TAP_BROKEN',
    says: 'what passed between the agent and an MCP server could not be read as a whole: calls may be missing',
    hides: CALLS,
  },
  tapsOnly: {
    code: 'MCP_TAPS_ONLY',
    says: 'only MCP servers were watched: the agent may have other tools',
    hides: CALLS,
  },
  cutOff: {
    code: 'REPLY_NOT_WHOLE',
    says: 'a streamed reply ends before its end: calls may be missing',
    hides: CALLS,
  },
  damaged: {
    code: 'REPLY_NOT_WHOLE',
    says: 'events of a streamed reply could not be read: calls may be missing',
    hides: CALLS,
  },
  alternatives: {
    code: 'REPLY_NOT_WHOLE',
    says: 'a reply has several alternatives with calls, and nothing says which one was used: the first is read',
    hides: CALLS,
  },
  emptyReply: {
    code: 'REPLY_EMPTY',
    says: 'a reply holds neither words nor calls, and nothing says that it ended like that: calls may be missing',
    hides: CALLS,
  },
  askedForTools: {
    code: 'CALLS_MISSING',
    says: 'a reply ended in order to call tools, and none of its calls is recorded',
    hides: CALLS,
  },
  orphanResult: {
    code: 'RESULT_WITHOUT_CALL',
    says: 'a tool result is recorded without its call: something ran that the recording does not name',
    hides: EVERYTHING,
  },
  unshown: {
    code: 'CALLS_HINTED',
    says: 'the recording mentions a tool that is not among the calls that were read: calls may be missing',
    hides: CALLS,
  },
  unknownBlock: {
    code: 'BLOCK_UNKNOWN',
    says: 'a reply holds a block of an unknown kind that may be a call',
    hides: CALLS,
  },
  unknownStep: {
    code: 'STEP_UNKNOWN',
    says: 'a step of an unknown kind, with an input and an output, may be a call of a tool',
    hides: CALLS,
  },
  absentChildren: {
    code: 'CHILDREN_MISSING',
    says: 'the recording names parts of the run that it does not hold',
    hides: EVERYTHING,
  },
  absentParent: {
    code: 'PARENT_MISSING',
    says: 'steps name a parent that the recording does not hold: other steps may be missing with it',
    hides: EVERYTHING,
  },
  unlinked: {
    code: 'SUBAGENT_UNLINKED',
    says: 'part of the run could not be linked to what started it',
    hides: EVERYTHING,
  },
  unfinished: {
    code: 'RUN_NOT_WHOLE',
    says: 'the recording does not show the end of the run: calls may be missing',
    hides: CALLS,
  },
  keptElsewhere: {
    code: 'HISTORY_ELSEWHERE',
    says: 'the run continues a conversation that the provider keeps: its earlier calls are not in the recording',
    hides: EVERYTHING,
  },
  absentReplies: {
    code: 'REPLIES_MISSING',
    says: 'calls are recorded of model replies that are not',
    hides: ['llmCalls'],
  },
  moreCounted: {
    code: 'COUNT_MISMATCH',
    says: 'the recording counts more than it holds',
    hides: EVERYTHING,
  },
  moreUsed: {
    code: 'USAGE_DRIFT',
    says: 'the recording reports more tokens than its model calls add up to: calls may be missing',
    hides: EVERYTHING,
  },
  brokenOff: {
    code: 'EXCHANGE_BROKEN_OFF',
    says: 'a call of a model was broken off before its reply was whole: calls may be missing',
    hides: EVERYTHING,
  },
  notKept: {
    code: 'EXCHANGE_TOO_LARGE',
    says: 'a call of a model was too large to keep: calls may be missing',
    hides: EVERYTHING,
  },
  unread: {
    code: 'REQUESTS_UNREAD',
    says: 'requests that may be model calls are in no known format',
    hides: EVERYTHING,
  },
  tunnelled: {
    code: 'MODEL_HOST_TUNNELLED',
    says: 'the agent reached a model past the capture: calls are missing',
    hides: EVERYTHING,
  },
  unseen: {
    code: 'SPAN_WITHOUT_EXCHANGE',
    says: 'a span shows a model call that did not pass the capture: calls may be missing',
    hides: EVERYTHING,
  },
  disputed: {
    code: 'SPAN_DISAGREES',
    says: 'the span of a model call has a call of a tool that the reply on the wire has not: both are counted',
    hides: CALLS,
  },
  spansLost: {
    code: 'SPANS_NOT_KEPT',
    says: 'spans of the agent reached the capture and were not kept: calls may be missing',
    hides: EVERYTHING,
  },
  unflushed: {
    code: 'SPANS_NOT_FLUSHED',
    says: 'the last model call has no span though earlier ones have: the agent ended before it had sent its spans, and calls may be missing',
    hides: CALLS,
  },
  unattributed: {
    code: 'CAPTURE_NOT_ATTRIBUTABLE',
    says: 'spans of agents came in other traces while the query ran, and may be its own: calls may be missing',
    hides: EVERYTHING,
  },
  unanswered: {
    code: 'SPANS_NOT_WHOLE',
    says: 'the span of the whole request did not come in time: calls may be missing',
    hides: EVERYTHING,
  },
  ended: {
    code: 'AGENT_ENDED_EARLY',
    says: 'the agent did not end by itself: what it did last may be missing',
    hides: EVERYTHING,
  },
  dropped: {
    code: 'OTEL_DROPPED_ATTRIBUTES',
    says: 'the recorder dropped content at its limit: messages may be missing',
    hides: CALLS,
  },
} as const satisfies Readonly<Record<string, GapKind>>;

export type Gap = keyof typeof GAPS;
