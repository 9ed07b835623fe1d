import type { Route } from '../exchange.ts';

const ROUTES: readonly (readonly [RegExp, Route])[] = [
  [/\/embeddings$|:(?:batch)?embedContents?$|\/api\/embed(?:dings)?$/i, 'embeddings'],
  [/\/chat\/completions$/, 'chat'],
  [/\/v1\/complet(?:e|ions)$|\/completions$/, 'completions'],
  [/\/responses(?:\/compact)?$/, 'responses'],
  [/\/messages$|:(?:stream)?rawPredict$/i, 'messages'],
  [/:(?:stream)?generateContent$/i, 'generate'],
  [/\/model\/[^/]+\/converse(?:-stream)?$/, 'converse'],
  [/\/model\/[^/]+\/invoke(?:-with-response-stream)?$/, 'invoke'],
  [/\/api\/(?:chat|generate)$/, 'ollama'],
  [/\/v[12]\/chat$/, 'cohere'],
  [/\/interactions$/, 'interactions'],
];

/** The kind of a request. Lists of models, files and token counting are `other`. */
export function routeOf(method: string, path: string): Route {
  if (method !== 'POST') return 'other';
  const plain = path.split('?')[0]!.replace(/\/+$/, '');
  return ROUTES.find(([pattern]) => pattern.test(plain))?.[1] ?? 'other';
}
