import { isFields } from '@agentci/trace';

const MODEL_PATH =
  /\/(?:chat|completions?|messages|responses|generate\w*|stream\w*generatecontent|converse[\w-]*|invoke[\w-]*|predict)\b/i;
/** Requests that SDKs send beside model calls, and that no model answers. */
const OTHER_PATH =
  /\/(?:embeddings|moderations|models|files|count_tokens|traces?|spans?|telemetry|v1\/traces)\b/i;

/** Google's APIs name what a model is to do after a colon; of these, nothing but tokens and vectors comes back. */
const MODEL_METHOD = /\/(?:models|tunedModels|endpoints|deployments)\/([^/]+:[a-z]+)$/i;
const WORDLESS = /:(?:count\w*tokens|computeTokens|\w*embed\w*)$|embedding[^:]*:predict$/i;

/** A request for words: its path or its body looks like that of a model, and nothing says it is something else. */
export function mayBeModelCall(value: unknown): boolean {
  if (!isFields(value)) return false;
  const path = pathOf(value);
  const [, asked] =
    value.method === undefined || value.method === 'POST' ? (MODEL_METHOD.exec(path) ?? []) : [];
  if (asked !== undefined) return !WORDLESS.test(asked);
  if (OTHER_PATH.test(path)) return false;
  const { request } = value;
  return (
    MODEL_PATH.test(path) ||
    (isFields(request) &&
      ('messages' in request ||
        'contents' in request ||
        ('model' in request && 'input' in request)))
  );
}

/** Without what follows a question mark and what precedes an @: keys travel there. */
export const pathOf = (value: Readonly<Record<string, unknown>>): string =>
  String(value.uri ?? value.url ?? '')
    .split('?')[0]!
    .replace(/\/\/[^/]*@/, '//');
