/** The server and the bare name in names that coding agents write for tools of an MCP server. */
export function splitToolName(name: string): { name: string; server?: string } {
  const match = /^mcp__([\s\S]+?)__([\s\S]+)$/.exec(name);
  if (match !== null) return { server: match[1]!, name: match[2]! };
  // Chat models write the namespace of their prompt before the name at times.
  return name.startsWith('functions.') && name.length > 10 ? { name: name.slice(10) } : { name };
}
