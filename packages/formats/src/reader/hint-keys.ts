/** Meanings of a field name as bits. Cached, because names repeat. */
export const KEY = {
  /** A list of calls. */
  calls: 1,
  /** The name of a tool. */
  name: 2,
  /** Available or expected tools, and values of a call or its result. */
  skipped: 4,
  /** Only there when something ran at the provider. */
  activity: 8,
  /** A number of calls. */
  count: 16,
  /** A count of items removed from a history. */
  removed: 32,
  /** Text of a model. */
  said: 64,
  /** The id of a call. */
  callId: 128,
  /** The id of a message or event that others continue from. */
  before: 256,
  /** An id. */
  id: 512,
  /** Why a reply ended. */
  finish: 1024,
  /** An object whose keys are tools. */
  byTool: 2048,
  /** A number or list of rounds with the model. */
  rounds: 4096,
  /** A list of tools: definitions, or calls with their results. */
  tools: 8192,
  /** A name that tracing may decorate (`tool:X`). */
  label: 16_384,
  /** Fields next to calls that do not name them. */
  wanted: 32_768,
} as const;

const WORDS: readonly (readonly [number, RegExp])[] = [
  [
    KEY.calls,
    /^(?:executed|executed_?calls|(?:formatted_)?tool_?calls?|invalid_tool_calls|function_?calls?|actions_taken|tool_?invocations|tool_?executions|tool_?results|tool_?call_?names|(?:called|invoked|used|executed|run)_?(?:tools|functions)|(?:tools|functions)_?(?:called|used|invoked|executed|run)|tool_?uses|intermediate_?steps|agent_?calls?)$/i,
  ],
  [
    KEY.name,
    /^(?:last_?|current_?)?(?:tool_?name|tool_?call_?name|function_name|(?:called|invoked|executed)_?(?:tool|function)|(?:tool|function)_?(?:called|used|invoked|executed))$/i,
  ],
  [
    KEY.skipped,
    /^(?:tools|tool_?definitions|functions|function_?declarations|available_?tools|allowed_?tools|active_?tools|tool_?(?:config|choice|set|schemas?|list|spec)|.*schema|parameters|arguments|args|response_format|properties|result|results|output_?value|tool_?response|observation|env|environment|config|settings|task_info|reward_info|evaluation_criteria|ground_truth|expected.*|reference.*|golden.*)$/i,
  ],
  [
    KEY.activity,
    /^(?:executable_?code|code_?execution_?result|web_?search_?queries|url_?context_?metadata|tool_?use_?prompt_?token_?count|web_?search_?requests|web_?fetch_?requests)$/i,
  ],
  [
    KEY.wanted,
    /^(?:automatic_?function_?calling_?history|long_?running_?tool_?ids|requested_?tool_?confirmations|requested_?auth_?configs|executed_tools|tool_outputs|tool_?usage|tool_?response)$/i,
  ],
  [
    KEY.count,
    /^(?!.*(?:max|min|limit|token|time|ms$|duration|budget|allowed|index|idx|cost|price|ids?$|rate|ratio|score|per_))(?:.*tool_?s?_?(?:calls?|uses?|invocations?|executions?).*|total_?calls|total_calls_in_response|call_?count)$/i,
  ],
  [
    KEY.removed,
    /^(?:cleared_tool_uses|(?:messages_?|turns_?)(?:removed|dropped|cleared)|(?:removed|dropped|cleared)_messages)$/i,
  ],
  [KEY.said, /^(?:content|text|value)$/],
  [
    KEY.callId,
    /^(?:(?:parent|preceding|source)_?)?(?:tool_?(?:call|use)|call)_?ids?$|^compacted_?tool_?ids$|^function_?call_?id$/i,
  ],
  [
    KEY.before,
    /^(?:logicalParentUuid|sourceToolAssistantUUID|forked_from_id|fromId|forgotten_event_ids)$/,
  ],
  [KEY.id, /^(?:id|uuid|session_id|trajectory_id)$/],
  [KEY.finish, /^(?:finish|stop|done)_?reasons?$/i],
  [KEY.byTool, /^(?:tool_?metrics|byName|tool_?usage|tool_?counts|calls_by_tool|tool_?stats)$/i],
  [KEY.rounds, /^(?:cycle_count|token_usages)$/],
  [KEY.tools, /^(?:tools|functions)$/],
  [KEY.label, /^(?:name|stepName|step_name)$/],
];

const known = new Map<string, number>();
const MAX_KNOWN = 5000;

/** The bits of a field's name. */
export function keyBits(name: string): number {
  let bits = known.get(name);
  if (bits !== undefined) return bits;
  bits = 0;
  if (name.length <= 60) for (const [bit, pattern] of WORDS) if (pattern.test(name)) bits |= bit;
  if (known.size < MAX_KNOWN) known.set(name, bits);
  return bits;
}
