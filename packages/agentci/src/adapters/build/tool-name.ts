/** The server and the bare name in names that coding agents write for tools of an MCP server. */
export function splitToolName(name: string): { name: string; server?: string } {
  const match = /^mcp__([\s\S]+?)__([\s\S]+)$/.exec(name);
  if (match !== null) return { server: match[1]!, name: match[2]! };
  // Chat models write the namespace of their prompt before the name at times.
  return name.startsWith('functions.') && name.length > 10 ? { name: name.slice(10) } : { name };
}

/** How tracing decorates the name of the tool in the name of its span. */
const DECORATED =
  /^(?:execute_tool|executing tool|running tool|tools\/call|tool[ _]call|call_tool|tool)(?:: ?|\.| )(?=\S)(.+)$/i;

/** The name of the tool in the name of a span: `execute_tool X`, `running tool: X`, `tool.X`. */
export const undecorated = (name: string): string => DECORATED.exec(name)?.[1] ?? name;

/** The agent in the name of a span that a framework writes as a tool's: `handoff to X`. */
export const handoffTarget = (name: string): string | undefined => /^hand[- _]?off to (\S.*)$/i.exec(name)?.[1];
