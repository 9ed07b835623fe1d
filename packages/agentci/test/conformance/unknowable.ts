/** A part whose loss a recording cannot show, because nothing else mentions it. */
export interface Unknowable {
  readonly format: string;
  readonly what: 'tool calls' | 'model calls' | 'answer';
  /** The path of the removed part, list indexes as `*`. */
  readonly where: RegExp;
  readonly why: string;
  /** Needed only by public recordings, which are not in the repository. */
  readonly isPublic?: true;
}

const ONE_ENTRY =
  'the call, its arguments and its result are one entry of a list that nothing counts';
const TOOL_SPAN =
  'the span is all there is of the call: the model spans are recorded without their messages';
const NO_BORDER =
  'the calls are all there; where one reply ends and the next begins was only told by what went';
const NO_NAME = 'a span without its attributes is a span of any program';

/** All losses that the readers cannot report. Anything else is a bug. */
export const UNKNOWABLE: readonly Unknowable[] = [
  { format: 'agentci', what: 'tool calls', where: /^\*\.steps\.\*/, why: ONE_ENTRY },
  {
    format: 'agentcore',
    what: 'model calls',
    where: /^\*\.body\.output/,
    why: 'without spans the reply is what tells an event of a model from one of the cycle around it',
  },
  { format: 'agentunit', what: 'tool calls', where: /^events\.\*/, why: ONE_ENTRY },
  {
    format: 'assay',
    what: 'tool calls',
    where: /^\*/,
    why: 'an audit line is the call, and nothing counts the lines',
  },
  {
    format: 'claude-code-transcript',
    what: 'tool calls',
    where: /^\*$/,
    why: 'the last line of a branch that was left: no result answers it and no line goes on from it',
  },
  {
    format: 'browser-use',
    what: 'tool calls',
    where: /^history\.\*$/,
    why: 'the first step has the number 1 or 2, by the version, and nothing counts up to the last',
  },
  { format: 'gemini-cli', what: 'tool calls', where: /toolCalls\.\*/, why: ONE_ENTRY },
  {
    format: 'gemini-cli',
    what: 'tool calls',
    where: /^\*$|^\*\.response\./,
    why: 'recorded responses hold replies alone: neither a result nor a request tells of their calls',
  },
  {
    format: 'ollama',
    what: 'tool calls',
    where: /^\*(?:\.message\.tool_calls|$)/,
    why: 'a streamed reply ends with "stop" whether or not it called something, and no result is in the stream',
  },
  { format: 'openai-agents-sdk', what: 'tool calls', where: /^\*$/, why: TOOL_SPAN },
  {
    format: 'openai-assistants',
    what: 'tool calls',
    where: /step_details\.tool_calls\.\*$/,
    why: ONE_ENTRY,
  },
  { format: 'codex-cli', what: 'model calls', where: /^items\.\*$/, why: NO_BORDER },
  { format: 'openai-agents-sdk', what: 'model calls', where: /^\*$/, why: NO_BORDER },
  { format: 'openai-responses', what: 'model calls', where: /^\*$/, why: NO_BORDER },
  {
    format: 'otel-genai',
    what: 'tool calls',
    where: /^\*$/,
    why: 'the tool span is all there is of the call: the one model span that is recorded asked for nothing',
  },
  {
    format: 'openhands',
    what: 'tool calls',
    where: /history\.\*$/,
    why: 'an action and its observation are one pair that nothing counts',
  },
  {
    format: 'openhands',
    what: 'tool calls',
    where: /^\*$/,
    why: 'the last action of a run: no observation answers it',
  },
  { format: 'otlp-json', what: 'model calls', where: /spans\.\*\.attributes/, why: NO_NAME },
  { format: 'simple', what: 'tool calls', where: /^\*\.tool_calls\.\*/, why: ONE_ENTRY },
  { format: 'vercel-ai-sdk', what: 'tool calls', where: /parts\.\*/, why: ONE_ENTRY },
  { format: 'vercel-ai-sdk', what: 'model calls', where: /parts\.\*/, why: NO_BORDER },
  {
    format: 'agentci-upstream',
    what: 'tool calls',
    where: /^trace\.spans\.\*(?:\.tool_calls\.\*)?$/,
    why: ONE_ENTRY,
    isPublic: true,
  },
  {
    format: 'ag-ui',
    what: 'tool calls',
    where: /^messages_snapshot\.\*(?:\.messages)?$/,
    why: 'a snapshot is the one place where the messages before the run stand',
    isPublic: true,
  },
  {
    format: 'ag-ui',
    what: 'answer',
    where: /^concurrent_messages\.\*$/,
    why: 'the start of a message is what tells who speaks',
    isPublic: true,
  },
  {
    format: 'claude-code-transcript',
    what: 'model calls',
    where: /^\*$/,
    why: 'the result that would name the call is in a misspelt field',
    isPublic: true,
  },
  {
    format: 'codex-cli',
    what: 'tool calls',
    where: /^events$/,
    why: 'an empty list of events says that nothing happened',
    isPublic: true,
  },
  {
    format: 'langfuse-export',
    what: 'model calls',
    where: /^observations\.\*$/,
    why: 'ids of calls are names of tools there: they point at nothing',
    isPublic: true,
  },
  {
    format: 'mcp',
    what: 'tool calls',
    where: /^\*$/,
    why: 'a request that was never answered',
    isPublic: true,
  },
  {
    format: 'openai-agents-sdk',
    what: 'tool calls',
    where: /^\*\.output\.\*/,
    why: 'replies without the results that would answer their calls',
    isPublic: true,
  },
  {
    format: 'otel-openinference',
    what: 'tool calls',
    where: /^(?:spans\.)?\*(?:\.attributes)?$/,
    why: TOOL_SPAN,
    isPublic: true,
  },
];
