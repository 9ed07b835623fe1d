import { present } from '@agentci/lib/data';
/** The name of a call whose recording gives none. It may have been any tool. */
export const UNNAMED = 'unknown';

/** Whether a rule about tools cannot judge a call because its tool is unknown. */
export const isUnnamed = (name: string): boolean => name === UNNAMED || name.trim() === '';

/** Splits the names that coding agents give to tools of MCP servers into server and tool. */
export function splitToolName(name: string): { readonly name: string; readonly server?: string } {
  if (name.startsWith('mcp__')) {
    const match = /^mcp__([\s\S]+?)__([\s\S]+)$/.exec(name);
    if (match !== null) return { server: match[1]!, name: match[2]! };
  }
  if (!DECORATED.test(name)) return { name };
  // Chat models sometimes write the namespace of their prompt before the name, and tokens or a call
  // number after it.
  const bare = name
    .replace(/<\|[\s\S]*$/, '')
    .replace(/\(\)$|:\d{1,3}$/, '')
    .replace(/^(?:functions\.|default_api[.:]|tools\.)(?=.)/, '');
  return { name: bare === '' ? name : bare };
}

const DECORATED = /<\||\(\)$|:\d{1,3}$|^(?:functions\.|default_api[.:]|tools\.)/;

/**
 * The tool in a name that starts with its server, in the spellings of known frameworks. Undefined
 * for a plain name.
 */
function lastPart(name: string): string | undefined {
  if (!JOINED.test(name)) return undefined;
  // Assumes that the server in `mcp_SERVER_NAME` is one word.
  const part =
    /^mcp_[^_]+_([^_][\s\S]*)$/.exec(name)?.[1] ?? /^[\s\S]*(?:[./:]|__)([^./:]+)$/.exec(name)?.[1];
  return part === undefined || part === name || part === '' ? undefined : part;
}

const JOINED = /[./:]|__|^mcp_/;

/**
 * Whether a rule against tools matches a call by its name, its recorded name, or its name without
 * the server (`fs.rm`, `fs__rm`, `fs/rm`, `mcp_fs_rm`). A prohibition must match all spellings.
 */
export function isMeant(
  { name, rawName }: { readonly name: string; readonly rawName?: string },
  matches: (name: string) => boolean,
): boolean {
  if (matches(name) || (rawName !== undefined && matches(rawName))) return true;
  const part = lastPart(name);
  return part !== undefined && matches(part);
}

/** Every name by which a rule against tools may match a call. */
export function meantNames({
  name,
  rawName,
}: {
  readonly name: string;
  readonly rawName?: string;
}): string[] {
  const part = lastPart(name);
  return present([
    name,
    rawName === undefined ? undefined : rawName,
    part === undefined ? undefined : part,
  ]);
}

const PARALLEL = 'multi_tool_use.parallel';

/**
 * The calls inside a call of `multi_tool_use.parallel`, with which some models request several
 * tools at once. Undefined for other tools. If its arguments cannot be read, one unnamed call
 * stands in for them.
 */
export function parallelCalls(
  name: string,
  args: unknown,
): readonly { name: string; args?: unknown }[] | undefined {
  if (splitToolName(name).name !== PARALLEL) return undefined;
  const uses = (args as { tool_uses?: unknown } | null | undefined)?.tool_uses;
  if (!Array.isArray(uses) || uses.length === 0) return [{ name: UNNAMED, args }];
  return uses.map(
    (
      use: {
        recipient_name?: unknown;
        name?: unknown;
        parameters?: unknown;
        arguments?: unknown;
      } | null,
    ) => {
      const called = use?.recipient_name ?? use?.name;
      return {
        name: typeof called === 'string' && called !== '' ? called : UNNAMED,
        args: use?.parameters ?? use?.arguments ?? {},
      };
    },
  );
}
