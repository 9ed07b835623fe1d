import { isFields } from '@agentci/trace';

/** Textual call syntaxes of models. The first group of a pattern, if any, is the tool. */
const DIALECTS: readonly RegExp[] = [
  // Mistral, Kimi, DeepSeek, Llama, Granite, Hermes, Qwen, MiniMax and OpenAI's harmony
  /\[TOOL_CALLS\]\s{0,99}(?:\[?\s{0,99}\{\s{0,99}"name"\s{0,99}:\s{0,99}")?([\w.-]{0,100})/,
  /<\|tool_call_begin\|>\s{0,99}([^<\n]{1,100})/,
  /<[｜|]tool▁call▁begin[｜|]>(?:function<[｜|]tool▁sep[｜|]>)?([^\n<]{1,100})/,
  /<[｜|]tool▁calls▁begin/,
  /<\|python_tag\|>\s{0,99}(?:\{\s{0,99}"name"\s{0,99}:\s{0,99}"([^"\n]{1,100})")?/,
  /<\|tool_call\|?>\s{0,99}(?:\[?\s{0,99}\{\s{0,99}"name"\s{0,99}:\s{0,99}"([^"\n]{1,100})")?/,
  /<tool_call>\s{0,99}(?:\{\s{0,99}"name"\s{0,99}:\s{0,99}"([^"\n]{1,100})")?/,
  /<invoke name="([^"\n]{1,100})"/,
  /<function_calls?\b/,
  /<function=([^>\n]{1,100})>/,
  /✿FUNCTION✿:\s{0,99}([^\n]{1,100})/,
  /\bto=functions\.([\w.-]{1,100})/,
  // Gemma, CodeAct, smolagents
  /^```tool_code\b/m,
  /<execute_(?:bash|ipython|browse)>/,
  /<end_code>|^(?:Thought|Code):[\s\S]{0,4000}?<code>/m,
  // ReAct, plain, in Markdown, numbered, with breaks of HTML, and with JSON
  /^[*_#> ]{0,6}Action(?: \d{1,3})?[*_]{0,3}:[*_]{0,3}[^\S\n]{0,99}(\S[^\n]{0,200}?)\s{0,99}(?:\n|<br\s{0,99}\/?>)\s{0,99}[*_#> ]{0,6}Action Input/m,
  /^[*_#> ]{0,6}Action(?: \d{1,3})?[*_]{0,3}:[*_]{0,3}[^\S\n]{0,99}([A-Za-z_][\w.-]{0,60})\[[^\n]{0,2000}\]\s{0,99}$/m,
  /^[*_#> ]{0,6}Action[*_]{0,3}:\s{0,99}(?:```\w{0,10}\s{0,99})?\{\s{0,99}"(?:name|action|tool)"\s{0,99}:\s{0,99}"([^"\n]{1,100})"/m,
  /^Thought:[\s\S]{0,4000}?^```(?:json)?\s{0,99}\{\s{0,99}"(?:name|action|tool)"\s{0,99}:\s{0,99}"([^"\n]{1,100})"\s{0,99},\s{0,99}"(?:action_input|args|arguments|parameters)"/m,
  /<action>([^<\n]{1,80})<\/action>\s{0,99}<action_input>/,
  // Cline and Roo, Open WebUI, AutoGen
  /^<use_mcp_tool>[\s\S]{0,400}?<tool_name>([^<\n]{1,100})</m,
  /^<(execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|search_files|list_files|list_code_definition_names|browser_action|access_mcp_resource)>\s{0,99}</m,
  /<details type="tool_calls"[^>]{0,300}? name="([^"\n]{1,100})"/,
  /^\*{5} Suggested (?:tool|function) call[^:\n]{0,100}: (\S{1,100})/m,
  // Output of programs while they call tools.
  /^[^\w\n]{0,6}(?:Calling|Invoking|Executing|Running|Using) (?:the )?(?:tools?|functions?):? ?[`"']([\w.-]{1,100})[`"']/m,
  /^[^\w\n]{0,6}Invoking: `([^`\n]{1,100})` with/m,
  /^[^\w\n]{0,6}(?:Tool|Function)[ _](?:call|use|invocation)[*_]{0,3}: ?[*_]{0,3}[`"']?([\w.-]{1,100})[`"']?\s{0,99}(?:\(|$)/im,
  /<tool_(?:use|code|request)>/,
  /<tool_name>([\w.-]{1,100})</,
  /^\s{0,99}\[([A-Za-z_][\w.]{0,100})\([^\n]{0,4000}\)\]\s{0,99}$/,
  // Objects of SDKs as Python prints them
  /\b(?:ToolUseBlock|ToolCall|FunctionCall|ToolCallPart|ChatCompletionMessage(?:Function)?ToolCall|AgentAction)\([^\n]{0,300}?\b(?:tool_|tool|)name='([^'\n]{1,100})'/,
  /'type': '(?:tool_use|function)'[^\n]{0,300}?'name': '([^'\n]{1,100})'/,
];

/** Fast test: every dialect contains one of these characters, and most texts none. */
const MARKS = /[<[✿{`*]|Action|=functions|(?:ool|unction)s?[ _:]/;
const MAX_TEXT = 100_000;

/** Calls that a model wrote as text. The name is absent if the dialect hides it. */
export function writtenCalls(given: string): readonly (string | undefined)[] {
  const text = given.length > MAX_TEXT ? given.slice(0, MAX_TEXT) : given;
  if (!MARKS.test(text)) return NONE;
  const named = callsInJson(text);
  if (named !== undefined) return named;
  const found: (string | undefined)[] = [];
  for (const dialect of DIALECTS) {
    const match = dialect.exec(text);
    if (match !== null) found.push(bare(match[1]));
  }
  // If dialects are nested, the one with a name gives the tool.
  const names = found.filter((name) => name !== undefined);
  return names.length > 0 ? names : found.slice(0, 1);
}

const NONE: readonly string[] = [];

/** `delete_all(...)` and a name with white space around it are the tool before it. */
function bare(name: string | undefined): string | undefined {
  const trimmed = name?.replace(/\(.*$/s, '').replace(/[*_`\s]+$|^[*`\s]+/g, '');
  return trimmed === '' ? undefined : trimmed;
}

/** A text that is nothing but JSON in the shape of a call, or of a list of them. */
function callsInJson(text: string): readonly string[] | undefined {
  const whole = unfenced(text.trim());
  if (
    !/^[[{]/.test(whole) ||
    !/[\]}]$/.test(whole) ||
    !/"(?:name|tool|tool_name|function|action|commands?)"/.test(whole)
  )
    return undefined;
  const value = parsed(whole);
  const names = (Array.isArray(value) ? value : [value]).map(calledBy);
  const known = names.filter((name) => name !== undefined);
  return known.length > 0 && known.length === names.length ? known : undefined;
}

/** The content of one fence around a whole text. */
const unfenced = (text: string): string =>
  text.startsWith('```') && text.endsWith('```') && text.length >= 6
    ? text
        .slice(3, -3)
        .replace(/^\w{1,10}/, '')
        .trim()
    : text;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The tool that an object in the shape of a call names. */
export function calledBy(value: unknown): string | undefined {
  if (!isFields(value)) return undefined;
  const { name, tool, tool_name, function: called, action, command, commands } = value;
  if (isFields(called)) return calledBy(called);
  if (isFields(command)) return calledBy(command);
  if (Array.isArray(commands) && isFields(commands[0]) && 'keystrokes' in commands[0])
    return 'keystrokes';
  const named = [tool, tool_name, called, name, action].find(
    (each) => typeof each === 'string' && each !== '',
  );
  if (typeof named !== 'string') return undefined;
  const isAction = named === action && named !== name;
  const given = isAction
    ? ['action_input']
    : ['arguments', 'args', 'parameters', 'tool_input', 'tool_args'];
  return given.some((key) => key in value && isGiven(value[key])) ? named : undefined;
}

/** Arguments are an object or a text; a list next to a name defines parameters. */
const isGiven = (value: unknown): boolean => typeof value === 'string' || isFields(value);

const RESULT =
  /^\s*(?:[*_]{0,3}Observation(?: \d{1,3})?[*_]{0,3}:|API output:|\[([\w.-]{1,100})(?: for '[^\n]{0,2000}')?\] Result:|EXECUTION RESULT of \[|TOOL RESPONSE:|Tool (?:result|output|response)s?:|Function (?:returned|result|output):|Command \S{1,100} returned:|New Terminal Output:|(?:Command|Terminal|Shell|Console) output:|Output of [`"']?[\w.-]{1,100}|Results? (?:of|from) (?:the )?(?:tool|function|call)|(?:Tool|Function) [`"']?[\w.-]{1,100}[`"']? (?:returned|result|output|response)|Response from (?:the )?(?:tool|function)|\[Tool (?:result|output|response)|Exit code: \d|I ran this command:|<(?:tool_response|tool_result|function[-_]results?|function_response|observation)>|\[TOOL_RESULTS\]|```tool_output|\*{5} Response from calling|Call id: \S|<[｜|]tool▁outputs|<\|start\|>functions\.|\[\{'type': 'tool_result')/i;

/** Whether a user-role text is a tool result, and of which tool. */
export function writtenResult(text: string): { readonly name?: string } | undefined {
  const match = RESULT.exec(text.length > 4000 ? text.slice(0, 4000) : text);
  if (match === null) return undefined;
  if (match[1] === undefined) return {};
  return { name: match[1] };
}

/** Final calls of dialects that end a run with a call, whose argument is the answer. */
export const isAnswering = (name: string): boolean =>
  /^(?:final[_ ]?answer|respond|finish|attempt_completion)$/i.test(name);
