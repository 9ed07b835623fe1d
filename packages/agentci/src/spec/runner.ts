import { dirname } from 'node:path';
import { parseModelName } from '../judge/model-name.ts';
import { didYouMean } from '../kit/did-you-mean.ts';
import { joinOr } from '../kit/value-words.ts';
import {
  keyPlace,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '../kit/yaml-node.ts';
import {
  RUNNER_KINDS,
  RUNNER_SCHEMAS,
  type RunnerConfig,
  toRunnerConfig,
  type WrittenRunner,
} from '../runners/config.ts';
import { isPromptFile } from '../runners/prompt-file.ts';
import { readContextFile } from './context-file.ts';
import type { SpecProblems } from './problems.ts';
import { checkValue, emptyKey, isBroken, isNull } from './value-check.ts';

/** A model that no provider has, and a prompt that is not there. What has a variable in it is known only when it runs. */
function checkModel(
  { model, prompt, baseUrl }: Extract<RunnerConfig, { kind: 'model' }>,
  value: YamlMap,
  problems: SpecProblems,
): void {
  const at = (key: string): YamlNode => value.entries.get(key)!.value;
  if (
    !model.includes('{{') &&
    parseModelName(model, { hasBaseUrl: baseUrl !== undefined }) === undefined
  )
    problems.add(at('model'), {
      code: 'SPEC_RUNNER_MODEL',
      message: `no known provider has the model "${model}"`,
      hint: 'write anthropic:, openai:, openai-chat: or google: and its name, or add base_url',
    });
  if (prompt === undefined || prompt.includes('{{') || !isPromptFile(prompt)) return;
  const node = at('prompt');
  const file = readContextFile(prompt, dirname(node.source.file));
  if (file.ok) return;
  const { code, message, hint } = file;
  problems.add(node, {
    code,
    message: message.replace('context file', 'prompt file'),
    hint: code === 'SPEC_FILE_UNREADABLE' ? 'a prompt is plain text' : hint,
  });
}

const KINDS = joinOr(RUNNER_KINDS.map((kind) => `"${kind}"`));

/** Reads `runner:`, which has exactly one kind; the keys of the others are then unknown to it. */
export function readRunner(entry: YamlEntry, problems: SpecProblems): RunnerConfig | undefined {
  const { value } = entry;
  if (isBroken(value)) return undefined;
  if (value.kind !== 'map') {
    const place = keyPlace(entry);
    if (isNull(value)) problems.add(place, emptyKey(entry.key));
    else
      problems.add(value, {
        code: 'SPEC_TYPE',
        message: '"runner" must be a map',
        hint: 'for example: {replay: ./traces}',
      });
    return undefined;
  }
  const kinds = RUNNER_KINDS.filter((kind) => value.entries.has(kind));
  const [kind] = kinds;
  if (kind === undefined) {
    const meant = [...value.entries.keys()]
      .map((key) => didYouMean(key, RUNNER_KINDS))
      .find((key) => key !== undefined);
    const hint =
      meant === undefined ? 'for example: {replay: ./traces}' : `did you mean "${meant}"?`;
    problems.add(value, {
      code: 'SPEC_RUNNER_KIND',
      message: `"runner" needs one of ${KINDS}`,
      hint,
    });
    return undefined;
  }
  if (kinds.length > 1) {
    const second = [...value.entries.values()].filter(({ key }) =>
      (kinds as readonly string[]).includes(key),
    )[1]!;
    problems.add(keyPlace(second), {
      code: 'SPEC_RUNNER_KIND',
      message: `"runner" has ${kinds.length} kinds; it takes one of ${KINDS}`,
      hint: 'keep one of them',
    });
    return undefined;
  }
  if (!checkValue(entry, RUNNER_SCHEMAS[kind], problems)) return undefined;
  const config = toRunnerConfig(kind, toPlain(value) as WrittenRunner);
  if (config.kind === 'model') checkModel(config, value, problems);
  return config;
}
