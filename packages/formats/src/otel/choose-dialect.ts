import type { Dialect } from './dialect.ts';
import { adk } from './dialects/adk.ts';
import { aiSdk } from './dialects/ai-sdk.ts';
import { anthropicSdk } from './dialects/anthropic-sdk.ts';
import { claudeCode } from './dialects/claude-code.ts';
import { genai } from './dialects/genai.ts';
import { langfuse } from './dialects/langfuse.ts';
import { openinference } from './dialects/openinference.ts';
import { openllmetry } from './dialects/openllmetry.ts';
import { generic, genkit, mlflow } from './dialects/others.ts';
import { pydanticAi } from './dialects/pydantic-ai.ts';
import { strands } from './dialects/strands.ts';
import type { Span } from './span.ts';

/** In order: the most specific writers first, the common conventions last. */
const DIALECTS: readonly Dialect[] = [
  langfuse,
  openinference,
  adk,
  aiSdk,
  claudeCode,
  anthropicSdk,
  pydanticAi,
  strands,
  mlflow,
  genkit,
  openllmetry,
  genai,
  generic,
];

/** The dialect of a span. Undefined for spans that have nothing to do with agents. */
export const dialectOf = (span: Span): Dialect | undefined =>
  DIALECTS.find((dialect) => dialect.matches(span));
