import { compileGlob, type GlobMatcher, RegexTimeout } from '@agentci/lib/regex';
import type { ToolStep } from '@agentci/trace';
import { isMeant } from '@agentci/trace';
import { argumentMismatch } from './argument-matcher.ts';

/** Ways to compare the arguments of a call with the expected ones. */
export const ARGS_MODES = ['exact', 'subset', 'superset', 'ignore'] as const;
export type ArgsMode = (typeof ARGS_MODES)[number];

export interface ExpectedCall {
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
}

/** Whether a call matches. `maybe`: its arguments were not captured or cannot be read. */
export type Match = 'yes' | 'no' | 'maybe';

const globs = new Map<string, GlobMatcher>();
const MAX_GLOBS = 1000;

function globOf(pattern: string): GlobMatcher {
  let glob = globs.get(pattern);
  if (glob === undefined) {
    glob = compileGlob(pattern);
    if (globs.size < MAX_GLOBS) globs.set(pattern, glob);
  }
  return glob;
}

/** Whether a call is of the tool, by its name or its recorded name. */
const isOf = ({ name, rawName }: ToolStep, glob: GlobMatcher): boolean =>
  glob(name) || (rawName !== undefined && glob(rawName));

/**
 * Whether a call matches. A prohibition must match all spellings, so it uses the names that
 * `forbidden_tools` uses.
 */
export function matchCall(
  expected: ExpectedCall,
  call: ToolStep,
  mode: ArgsMode,
  isForbidden = false,
): Match {
  const glob = globOf(expected.tool);
  if (!(isForbidden ? isMeant(call, glob) : isOf(call, glob))) return 'no';
  const { args: wanted } = expected;
  if (wanted === undefined || mode === 'ignore') return 'yes';
  // Unreadable or unnamed arguments may have any value: truncated text, a list.
  if (call.args === undefined || typeof call.args === 'string' || Array.isArray(call.args))
    return 'maybe';
  // Some sources record a call without arguments as null.
  const given = call.args ?? {};
  if (typeof given !== 'object') return 'maybe';
  try {
    return fits(wanted, given as Record<string, unknown>, mode) ? 'yes' : 'no';
  } catch (error) {
    if (error instanceof RegexTimeout) return 'maybe';
    throw error;
  }
}

function fits(
  wanted: Readonly<Record<string, unknown>>,
  given: Record<string, unknown>,
  mode: ArgsMode,
): boolean {
  const isFit = (name: string): boolean =>
    argumentMismatch(wanted[name], given, name) === undefined;
  const names = Object.keys(wanted);
  const isKnown = (name: string): boolean => Object.hasOwn(wanted, name);
  if (mode === 'subset') return names.every(isFit);
  const hasNoOthers = Object.keys(given).every(isKnown);
  if (mode === 'exact') return hasNoOthers && names.every(isFit);
  return hasNoOthers && names.every((name) => !Object.hasOwn(given, name) || isFit(name));
}
