import { isFields } from '@agentci/trace';

const MODEL_PATH =
  /\/(?:chat|completions?|messages|responses|generate\w*|stream\w*generatecontent|converse[\w-]*|invoke[\w-]*|predict)\b/i;
/** SDK requests that are not model calls. */
const OTHER_PATH =
  /\/(?:embeddings|moderations|models|files|count_tokens|traces?|spans?|telemetry|v1\/traces)\b/i;

/** Google's APIs name the method after a colon. These return only tokens or vectors. */
const MODEL_METHOD = /\/(?:models|tunedModels|endpoints|deployments)\/([^/]+:[a-z]+)$/i;
const WORDLESS = /:(?:count\w*tokens|computeTokens|\w*embed\w*)$|embedding[^:]*:predict$/i;

/**
 * Whether a request may be a model call: its path or body looks like one, and nothing contradicts.
 */
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

/** Without query string and user info, which may contain keys. */
export const pathOf = (value: Readonly<Record<string, unknown>>): string =>
  String(value.uri ?? value.url ?? '')
    .split('?')[0]!
    .replace(/\/\/[^/]*@/, '//');
