// Calls GitHub's API with a timeout, because a job must not wait for a server that never answers.
const TIMEOUT_MS = 30_000;

export async function fetchJson(url, { method = 'GET', body, token, timeoutMs = TIMEOUT_MS }) {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer to ${method} within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  try {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/vnd.github+json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: controller.signal,
    });
    if (!response.ok) throw new Error(`${method} answered HTTP ${response.status}`);
    return await response.json();
  } finally {
    clearTimeout(timer);
  }
}
