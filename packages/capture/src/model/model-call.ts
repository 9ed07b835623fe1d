/**
 * Host and path of a model's call wherever it is made. Only what hardly means anything else: servers of tools have paths
 * such as `/messages` and `/api/chat`, and embeddings on this machine are mostly part of a tool.
 */
export const MODEL_CALL =
  /\/chat\/completions$|\/v1\/(?:messages|responses|completions|complete)$|:(?:stream)?(?:generateContent|rawPredict)$|\/model\/[^/]+\/(?:converse|converse-stream|invoke|invoke-with-response-stream)$|:11434\/api\/(?:chat|generate)$/i;

/** Paths that servers of tools have too: a call of a model only together with a body that names one and says something to it. */
export const MAYBE_MODEL_CALL =
  /\/(?:responses|messages|completions|interactions|api\/(?:chat|generate)|v[12]\/chat)$/i;

/** Whether a request is a model's call by its looks, at a host that nothing names. The preload asks the same of Node programs. */
export const isModelCall = (
  method: string,
  { host, pathname }: Pick<URL, 'host' | 'pathname'>,
): boolean => /^post$/i.test(method) && MODEL_CALL.test(host + pathname.replace(/\/+$/, ''));

/** Whether a host is this machine, however it is written. `0.0.0.0` reaches it too, and is what servers print of themselves. */
export const isLoopback = (host: string): boolean =>
  /^(?:(?:.+\.)?localhost|ip6-localhost|127\..+|0\.0\.0\.0|::1?|::ffff:(?:127\..+|7f[0-9a-f]{2}:[0-9a-f]+))$/.test(
    host
      .toLowerCase()
      .replace(/^\[|\]$/g, '')
      .replace(/\.+$/, ''),
  );
