import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { underTickingClock } from './clock.ts';
import type { Recording } from './recording.ts';

/** One module per format. SDKs are loaded on demand. */
export const FORMATS: Readonly<
  Record<string, () => Promise<{ record: () => Promise<Recording> }>>
> = {
  'agentci-exchange': () => import('./agentci-exchange.ts'),
  'anthropic-messages': () => import('./anthropic-messages.ts'),
  'gemini-generate-content': () => import('./gemini-generate-content.ts'),
  'openai-chat-completions': () => import('./openai-chat-completions.ts'),
  'langchain-langgraph': () => import('./langchain-langgraph.ts'),
  langsmith: () => import('./langsmith.ts'),
  mcp: () => import('./mcp.ts'),
  'openai-agents-sdk': () => import('./openai-agents-sdk.ts'),
  'openai-responses': () => import('./openai-responses.ts'),
  'otel-genai': () => import('./otel-genai.ts'),
  'otlp-json': () => import('./otlp-json.ts'),
  'otlp-protobuf': () => import('./otlp-protobuf.ts'),
  'vercel-ai-sdk': () => import('./vercel-ai-sdk.ts'),
};

const RECORDINGS = fileURLToPath(new URL('../../testing/recordings', import.meta.url));

/**
 * Runs the SDKs of the named formats, or of all, and writes their output. Returns the paths of the
 * files.
 */
export async function makeRecordings(
  names: readonly string[],
  root = RECORDINGS,
): Promise<string[]> {
  const written: string[] = [];
  for (const format of names.length === 0 ? Object.keys(FORMATS) : names) {
    const load = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    if (load === undefined)
      throw new Error(`no recorder for ${format}; there are ${Object.keys(FORMATS).join(', ')}`);
    const { record } = await load();
    const files = await underTickingClock(record);
    mkdirSync(join(root, format), { recursive: true });
    for (const [file, content] of Object.entries(files)) {
      writeFileSync(join(root, format, file), content);
      written.push(`${format}/${file}`);
    }
  }
  return written;
}
