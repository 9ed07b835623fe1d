import { present } from '@agentci/lib/data';
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
  if (!DECORATED.test(name)) return { name };
  // Chat models write the namespace of their prompt before the name at times, and tokens or the number of the call after it.
  const bare = name
    .replace(/<\|[\s\S]*$/, '')
    .replace(/\(\)$|:\d{1,3}$/, '')
    .replace(/^(?:functions\.|default_api[.:]|tools\.)(?=.)/, '');
  return { name: bare === '' ? name : bare };
}

const DECORATED = /<\||\(\)$|:\d{1,3}$|^(?:functions\.|default_api[.:]|tools\.)/;

/** The tool in a name with its server before it, in the ways that frameworks join the two; undefined for a bare name. */
function lastPart(name: string): string | undefined {
  if (!JOINED.test(name)) return undefined;
  // The server of `mcp_SERVER_NAME` is taken for one word.
  const part =
    /^mcp_[^_]+_([^_][\s\S]*)$/.exec(name)?.[1] ?? /^[\s\S]*(?:[./:]|__)([^./:]+)$/.exec(name)?.[1];
  return part === undefined || part === name || part === '' ? undefined : part;
}

const JOINED = /[./:]|__|^mcp_/;

/**
 * Whether a rule against tools means a call: by its name, by the name as recorded, or by what is left of it without a
 * server (`fs.rm`, `fs__rm`, `fs/rm`, `mcp_fs_rm`). A rule that must not be missed takes all of them.
 */
export function isMeant(
  { name, rawName }: { readonly name: string; readonly rawName?: string },
  matches: (name: string) => boolean,
): boolean {
  if (matches(name) || (rawName !== undefined && matches(rawName))) return true;
  const part = lastPart(name);
  return part !== undefined && matches(part);
}

/** Every name that a rule against tools may mean a call by. */
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
 * The calls inside a call of `multi_tool_use.parallel`, which is how some models ask for several tools at once. Undefined
 * for every other tool; where its arguments cannot be read, one call without a name stands for what was called.
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
