import { isObject } from '@agentci/lib/data';
import type { SourceFile } from '../../folder.ts';
import type { Finding } from '../../model.ts';
import { placeOf } from '../../places.ts';
import { jsonText, type Rendered, render, type Vars } from './render.ts';

/** A prompt of the config: its text, or the reason for its absence. */
export interface Prompt {
  readonly label: string;
  readonly text: string;
  /** Its names in filters of tests and providers. */
  readonly names?: readonly string[];
  /** The messages of the prompt, if it is a chat. */
  readonly chat?: readonly { readonly role: string; readonly content: string }[];
}

export interface Prompts {
  readonly prompts: readonly Prompt[];
  readonly findings: readonly Finding[];
}

const CODE = /\.(?:[cm]?[jt]s|py)(?::[\w.]+)?$/;
const FILE = /^[^\s{}]+\.(?:txt|md|j2|json|jsonl|ya?ml|csv|[cm]?[jt]s|py)(?::[\w.]+)?$/;

/** Reads the prompts of a config: texts, files, chats. Code that creates prompts is not run. */
export function readPrompts(written: unknown, config: SourceFile): Prompts {
  const prompts: Prompt[] = [];
  const findings: Finding[] = [];
  let entries: readonly unknown[] = [written ?? '{{prompt}}'];
  if (isObject(written) && written.raw === undefined) entries = Object.keys(written);
  else if (Array.isArray(written)) entries = written;
  for (const entry of entries) {
    const place = placeOf(entry, placeOf(written, { file: config.name, line: 1 }));
    const raw = isObject(entry) ? (entry.raw ?? entry.id ?? entry.label) : entry;
    let names: unknown[];
    if (isObject(entry)) names = [entry.label, entry.id];
    else if (isObject(written)) names = [written[String(entry)]];
    else names = [];
    const given = names.filter((name) => typeof name === 'string') as readonly string[];
    if (typeof raw !== 'string')
      findings.push({ ...place, type: 'prompt', verdict: 'none', why: 'it has no text' });
    else if (
      /^(?:exec|package|langfuse|portkey|helicone):/.test(raw) ||
      (CODE.test(raw) && (raw.startsWith('file://') || FILE.test(raw)))
    )
      findings.push({
        ...place,
        type: 'prompt',
        verdict: 'none',
        why: 'it comes from code or a service, which is not asked',
      });
    else if (raw.startsWith('file://') || FILE.test(raw))
      for (const file of config.matching(raw.replace(/^file:\/\//, '')))
        if (CODE.test(file.base))
          findings.push({
            ...place,
            type: 'prompt',
            verdict: 'none',
            why: 'it comes from code, which is not run',
          });
        else
          prompts.push(
            ...promptsOf(file).map((one) =>
              named(one, given, `${raw.replace(/^file:\/\//, '')}: ${one.text}`),
            ),
          );
    else prompts.push(named(promptOf(raw, raw), given, raw));
  }
  return { prompts, findings };
}

/** A prompt without a label is named by its text, or by its file and its text. */
const named = (prompt: Prompt, given: readonly string[], otherwise: string): Prompt => ({
  ...prompt,
  names: given.length === 0 ? [otherwise] : given,
});

function promptsOf(file: SourceFile): Prompt[] {
  switch (file.extension) {
    case '.csv':
      return (file.value as readonly Record<string, string>[]).flatMap(({ prompt }) =>
        prompt === undefined ? [] : [promptOf(prompt, file.base)],
      );
    case '.jsonl':
      return file.text
        .split(/\r?\n/)
        .flatMap((line) => (line.trim() === '' ? [] : [promptOf(line, file.base)]));
    case '.yaml':
    case '.yml':
      return [promptOf(JSON.stringify(file.value), file.base)];
    case '.json':
      return [promptOf(file.text, file.base)];
    default:
      return file.text
        .split(/^---\s*$/m)
        .flatMap((text) => (text.trim() === '' ? [] : [promptOf(text.trim(), file.base)]));
  }
}

function promptOf(text: string, label: string): Prompt {
  const chat = chatOf(text);
  return { label, text, chat };
}

function chatOf(text: string): Prompt['chat'] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const messages = isObject(value) ? value.messages : value;
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const chat = messages.map((message) =>
    isObject(message) && typeof message.role === 'string' && typeof message.content === 'string'
      ? { role: message.role, content: message.content }
      : undefined,
  );
  return chat.every((message) => message !== undefined) ? chat : undefined;
}

/**
 * The input of the agent: the filled-in prompt, and the system message before it if the prompt is a
 * chat.
 */
export function ask(prompt: Prompt, vars: Vars): Rendered & { readonly system?: string } {
  const { chat } = prompt;
  const [first, second, ...rest] = chat ?? [];
  if (first?.role === 'user' && second === undefined) return render(first.content, vars, jsonText);
  if (first?.role === 'system' && second?.role === 'user' && rest.length === 0) {
    const system = render(first.content, vars, jsonText);
    return system.ok ? { ...render(second.content, vars, jsonText), system: system.text } : system;
  }
  return render(prompt.text, vars, jsonText);
}
