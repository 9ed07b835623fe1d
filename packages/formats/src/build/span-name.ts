/** How tracing decorates the name of the tool in the name of its span. */
const DECORATED =
  /^(?:execute_tool|executing tool|running tool|tools\/call|tool[ _]call|call_tool|tool)(?:: ?|\.| )(?=\S)(.+)$/i;

/** The name of the tool in the name of a span: `execute_tool X`, `running tool: X`, `tool.X`. */
export const undecorated = (name: string): string => DECORATED.exec(name)?.[1] ?? name;

/** The agent in the name of a span that a framework writes as a tool's: `handoff to X`. */
export const handoffTarget = (name: string): string | undefined =>
  /^hand[- _]?off to (\S.*)$/i.exec(name)?.[1];
