import { sha256Hex } from '@agentci/lib/data';
import type { Suite } from '@agentci/spec';
import { isPromptFile, readPromptFile } from '@agentci/spec';
import { filledText } from '../runners/fill-texts.ts';

/**
 * Hash of the data that a worker must share with the collector: the spec, and the prompts it names
 * if a model is the agent. The files of any other agent are local.
 */
export function workerHash(suite: Suite): string {
  const { runner, dir, queries, hash } = suite;
  if (runner?.kind !== 'model' || runner.prompt === undefined || !isPromptFile(runner.prompt))
    return hash;
  const { prompt } = runner;
  const signal = new AbortController().signal;
  const named = prompt.includes('{{')
    ? queries.map(({ query, id, vars, cell }) =>
        filledText(prompt, { query, id, run: 1, vars, cell, signal }),
      )
    : [prompt];
  const texts = [...new Set(named)].sort().map((path) => [path, readPromptFile(path, dir)]);
  return `sha256:${sha256Hex(JSON.stringify([hash, texts]))}`;
}
