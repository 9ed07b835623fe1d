/**
 * Host and path of a model call to any server. Only paths that hardly mean anything else: tool
 * servers have paths such as `/messages` and `/api/chat`, and local embeddings mostly belong to a
 * tool.
 */
export const MODEL_CALL =
  /\/chat\/completions$|\/v1\/(?:messages|responses|completions|complete)$|:(?:stream)?(?:generateContent|rawPredict)$|\/model\/[^/]+\/(?:converse|converse-stream|invoke|invoke-with-response-stream)$|:11434\/api\/(?:chat|generate)$/i;

/**
 * Paths that tool servers use too. They are model calls only with a body that names a model and
 * contains messages.
 */
export const MAYBE_MODEL_CALL =
  /\/(?:responses|messages|completions|interactions|api\/(?:chat|generate)|v[12]\/chat)$/i;

/**
 * Whether a request to an unknown host looks like a model call. The preload uses the same test in
 * Node programs.
 */
export const isModelCall = (
  method: string,
  { host, pathname }: Pick<URL, 'host' | 'pathname'>,
): boolean => /^post$/i.test(method) && MODEL_CALL.test(host + pathname.replace(/\/+$/, ''));

/**
 * Whether a host is this machine, in any spelling. `0.0.0.0` reaches it too, and servers print it.
 */
export const isLoopback = (host: string): boolean =>
  /^(?:(?:.+\.)?localhost|ip6-localhost|127\..+|0\.0\.0\.0|::1?|::ffff:(?:127\..+|7f[0-9a-f]{2}:[0-9a-f]+))$/.test(
    host
      .toLowerCase()
      .replace(/^\[|\]$/g, '')
      .replace(/\.+$/, ''),
  );
