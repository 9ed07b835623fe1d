/** What a call is named where its recording gives it no name: it may have been any tool. */
export const UNNAMED = 'unknown';

/** Whether a rule about tools can say nothing of a call, since nothing says which tool it was. */
export const isUnnamed = (name: string): boolean => name === UNNAMED || name.trim() === '';

/** The server and the bare name in names that coding agents write for tools of an MCP server. */
export function splitToolName(name: string): { readonly name: string; readonly server?: string } {
  // Most names are bare; this is looked at for every call of every recording.
  if (name.startsWith('mcp__')) {
    const match = /^mcp__([\s\S]+?)__([\s\S]+)$/.exec(name);
    if (match !== null) return { server: match[1]!, name: match[2]! };
  }
  // Chat models write the namespace of their prompt before the name at times.
  return name.startsWith('functions.') && name.length > 10 ? { name: name.slice(10) } : { name };
}

const PARALLEL = 'multi_tool_use.parallel';

/**
 * The calls inside a call of `multi_tool_use.parallel`, which is how some models ask for several tools at once. Undefined
 * for every other tool; where its arguments cannot be read, one call without a name stands for what was called.
 */
export function parallelCalls(name: string, args: unknown): readonly { name: string; args?: unknown }[] | undefined {
  if (splitToolName(name).name !== PARALLEL) return undefined;
  const uses = (args as { tool_uses?: unknown } | null | undefined)?.tool_uses;
  if (!Array.isArray(uses) || uses.length === 0) return [{ name: UNNAMED, args }];
  return uses.map(
    (use: { recipient_name?: unknown; name?: unknown; parameters?: unknown; arguments?: unknown } | null) => {
      const called = use?.recipient_name ?? use?.name;
      return {
        name: typeof called === 'string' && called !== '' ? called : UNNAMED,
        args: use?.parameters ?? use?.arguments ?? {},
      };
    },
  );
}
