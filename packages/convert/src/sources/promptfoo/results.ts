import { isObject } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import type { SourceFile } from '../../folder.ts';
import type { Block, BlockValue, ConvertedCase, ConvertedSuite, Finding } from '../../model.ts';
import { placeOf } from '../../places.ts';
import { readAssertions } from './assertions.ts';
import type { Vars } from './render.ts';

/** A file of `promptfoo eval -o results.json`. */
export const isResults = (value: Vars): boolean =>
  isObject(value.results) &&
  Array.isArray(value.results.results) &&
  (isObject(value.config) || 'evalId' in value);

/** Results contain runs as well as assertions. Each becomes a case with its recording. */
export function readResults(value: Vars, file: SourceFile): ConvertedSuite {
  const rows = (value.results as Vars).results as readonly unknown[];
  const root = { file: file.name, line: 1 };
  const settings: Finding[] = [];
  const cases = rows.flatMap((row, i): ConvertedCase[] => {
    if (!isObject(row)) return [];
    const place = placeOf(row, root);
    const test = isObject(row.testCase) ? row.testCase : {};
    const vars = isObject(row.vars) ? row.vars : {};
    const prompt =
      isObject(row.prompt) && typeof row.prompt.raw === 'string'
        ? row.prompt.raw
        : JSON.stringify(vars);
    const options = isObject(test.options) ? test.options : {};
    const carried = readAssertions(Array.isArray(test.assert) ? test.assert : [], test.threshold, {
      vars,
      place,
      readFile: (path) => readBeside(file, path),
      // The stored and judged output is the result of the transform.
      changed:
        test.assertScoringFunction === undefined
          ? undefined
          : 'a function of the suite computes the verdict',
    });
    const recording = recordingOf(row);
    const name = typeof test.description === 'string' ? test.description : `result-${i + 1}`;
    if (options.transform !== undefined)
      settings.push({
        ...place,
        type: 'transform',
        verdict: 'close',
        why: 'the recorded answer is the transformed one',
      });
    return [
      {
        place,
        name:
          Array.isArray(row.promptIdx) || typeof row.promptIdx !== 'number' || row.promptIdx === 0
            ? name
            : `${name}-prompt-${row.promptIdx + 1}`,
        query: prompt.trim() === '' ? '(empty)' : prompt,
        carried,
        ...(recording === undefined ? { skip: 'promptfoo has no output for it' } : { recording }),
      },
    ];
  });
  return { cases, settings };
}

function readBeside(file: SourceFile, path: string): unknown {
  try {
    return file.beside(path).value;
  } catch (error) {
    // Results are often stored elsewhere than the config with their file names.
    if (error instanceof UserError && error.code === 'CONVERT_UNREADABLE') return undefined;
    throw error;
  }
}

/**
 * The stored run in the simple form. Missing data is left out, because not captured differs from
 * empty.
 */
function recordingOf(row: Vars): Block | undefined {
  const response = isObject(row.response) ? row.response : {};
  const { output } = response;
  if (output === undefined || output === null) return undefined;
  const usage = isObject(response.tokenUsage) ? response.tokenUsage : {};
  const recording: Record<string, BlockValue> = {
    answer: typeof output === 'string' ? output : JSON.stringify(output),
  };
  const isCached = response.cached === true;
  if (typeof row.cost === 'number' && !isCached && row.cost > 0) recording.cost_usd = row.cost;
  if (typeof row.latencyMs === 'number' && !isCached) recording.latency_ms = row.latencyMs;
  if (typeof usage.total === 'number' && usage.total > 0 && !isCached)
    recording.total_tokens = usage.total;
  return recording;
}
