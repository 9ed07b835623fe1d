import { type CelVariables, compileExpression, NotCaptured } from '@agentci/lib/cel';
import { compileGlob } from '@agentci/lib/regex';
import { visibleName } from '@agentci/lib/text';
import { meantNames } from '@agentci/trace';
import { known } from './call-texts.ts';
import { type CallsInSight, CannotTell, type Condition } from './condition-type.ts';
import type { ListedTool } from './definitions/pinned-tools.ts';
import { AS_CAPTURED, inForm, type View, viewsAt } from './result-forms.ts';
import { CALL_FIELDS } from './run-facts.ts';

const CALL = ['name', ...CALL_FIELDS];
const VARIABLES: CelVariables = {
  call: { fields: CALL },
  args: 'dyn',
  result: 'dyn',
  previous: { items: CALL },
  agent: 'dyn',
  query: 'string',
  tool: { fields: ['name', 'description', 'schema'] },
};
const OWN_RESULT = ['result', 'call', 'call.result', 'call.error', 'call.latency_ms'];
const RESULT_FIELDS = ['.result', '.error', '.latency_ms'];

export const CEL_HINT =
  'expressions are CEL over call, args, result, previous, agent, query and tool';

export type CompiledCondition =
  | { readonly ok: true; readonly condition: Condition; readonly negated: Condition }
  | { readonly ok: false; readonly message: string; readonly offset: number };

/** Compiles an expression over a call and the calls before it, and its negation. */
export function compileCondition(text: string): CompiledCondition {
  const compiled = compileExpression(text, VARIABLES);
  if (!compiled.ok) return { ok: false, ...compiled.problem };
  const { program } = compiled;
  const needsResult = OWN_RESULT.some((path) => hasPath(program.paths, path));
  const looksAtResults =
    needsResult ||
    [...program.paths].some((path) => RESULT_FIELDS.some((field) => path.endsWith(field)));
  const shown = text.trim().replace(/\s+/g, ' ');
  const runOnce = (calls: CallsInSight, at: number, view: View): boolean | CannotTell => {
    const result = program.run(valuesAt(calls, at, view));
    if (result.kind === 'unknown') return new CannotTell(result.what);
    if (result.kind === 'error') return new CannotTell(`${shown}: ${result.message}`);
    return typeof result.value === 'boolean'
      ? result.value
      : new CannotTell(`${shown} gives ${typeof result.value}, not true or false`);
  };
  const seen = {
    own: needsResult,
    earlier:
      looksAtResults &&
      [...program.paths].some((path) => path === 'previous' || path.startsWith('previous.')),
  };
  /**
   * The first form with `decisive` decides, else one with the opposite. Otherwise it is undecided.
   */
  const run = (calls: CallsInSight, at: number, decisive: boolean): boolean | CannotTell => {
    const views = looksAtResults ? viewsIn(calls, at, seen) : ONE_VIEW;
    if (views instanceof CannotTell) return views;
    let told: boolean | CannotTell | undefined;
    for (const view of views) {
      let found = runOnce(calls, at, view);
      if (found instanceof CannotTell && views.length > 1)
        found = runOnce(calls, at, { ...view, isTurned: true });
      if (found === decisive) return found;
      if (told === undefined || told instanceof CannotTell) told = found;
    }
    return told!;
  };
  const looksAtTools = [...program.paths].some(
    (path) => path === 'tool' || path.startsWith('tool.'),
  );
  const common = { needsResult, looksAtResults, looksAtTools };
  return {
    ok: true,
    condition: {
      ...common,
      label: `when ${shown}`,
      test: (calls, at, isWanted = false) => run(calls, at, !isWanted),
    },
    negated: {
      ...common,
      label: `unless ${shown}`,
      test: (calls, at, isWanted = false) => {
        const found = run(calls, at, isWanted);
        return typeof found === 'boolean' ? !found : found;
      },
    },
  };
}

/** `result` is also read by `result.x`, but `call` only by itself. */
const hasPath = (paths: ReadonlySet<string>, path: string): boolean =>
  paths.has(path) || (path !== 'call' && [...paths].some((each) => each.startsWith(`${path}.`)));

const ONE_VIEW: readonly View[] = [AS_CAPTURED];

function viewsIn(
  calls: CallsInSight,
  at: number,
  seen: { readonly own: boolean; readonly earlier: boolean },
): readonly View[] | CannotTell {
  const views = known(() => viewsAt(calls, at, seen)) as readonly View[] | CannotTell | undefined;
  // The expression may not need the earlier calls.
  if (views instanceof CannotTell) return ONE_VIEW;
  return views ?? new CannotTell(`the result of call ${at + 1} has too many parts to look at each`);
}

function valuesAt(calls: CallsInSight, at: number, view: View): Readonly<Record<string, unknown>> {
  const { own, earlier, isTurned } = view;
  const call = view === AS_CAPTURED ? calls.value(at) : inForm(calls.value(at), own, isTurned);
  return {
    call,
    get args() {
      return call.args;
    },
    get result() {
      return call.result;
    },
    get agent() {
      return call.agent;
    },
    get previous() {
      const previous = calls.previous(at);
      return view === AS_CAPTURED
        ? previous
        : previous.map((each) => inForm(each, earlier, isTurned));
    },
    get query() {
      if (calls.run.query === undefined)
        throw new NotCaptured('the text of the query is not known');
      return calls.run.query;
    },
    get tool() {
      const { name, description = '', schema = null } = definitionAt(calls, at);
      return { name, description, schema };
    },
  };
}

/** The definition of the called tool. Throws if unknown. */
export function definitionAt(calls: CallsInSight, at: number): ListedTool {
  const names = meantNames(calls.calls[at]!);
  const found = calls.run.tools?.find(({ name }) => names.includes(visibleName(name)));
  if (found === undefined)
    throw new NotCaptured(`the definition of ${calls.calls[at]!.name} is not known`);
  return found;
}

/** Limits a rule to calls of these agents. */
export function agentCondition(patterns: readonly string[]): Condition {
  const globs = patterns.map(compileGlob);
  return {
    label: `by ${patterns.join(', ')}`,
    needsResult: false,
    looksAtResults: false,
    test: (calls, at) => {
      try {
        const { agent } = calls.value(at);
        return typeof agent === 'string' && globs.some((glob) => glob(agent));
      } catch (error) {
        if (error instanceof NotCaptured) return new CannotTell(error.message);
        throw error;
      }
    },
  };
}
