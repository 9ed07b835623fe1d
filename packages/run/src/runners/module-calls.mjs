// Marks each request to the capture with its query. Otherwise calls after the answer would be
// counted with the next query. Only the capture gets this header, and it removes it.
import { subscribe } from 'node:diagnostics_channel';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const HEADER = 'x-agentci-query';
/** Requests to models, among all requests to the capture. */
const MODEL_PATH = /^\/r\/[^/]+\/llm\//;

/**
 * `current` returns the number of the call that the running code belongs to. Returns a function
 * that counts the requests to models a call has started, sent or not. Undefined without a capture.
 */
export function markCalls(current) {
  const front = frontOf(process.env.AGENTCI_PRELOAD);
  if (front === undefined) return undefined;
  const begun = new Map();
  const count = (call, path) => {
    if (MODEL_PATH.test(path)) begun.set(call, (begun.get(call) ?? 0) + 1);
  };
  subscribe('undici:request:create', ({ request }) => {
    const call = current();
    if (call === undefined || String(request.origin) !== `http://${front}`) return;
    try {
      request.addHeader(HEADER, String(call));
      count(call, request.path);
    } catch {
      // Sends the request unchanged.
    }
  });
  const http = createRequire(import.meta.url)('node:http');
  const { request: original } = http;
  http.request = function (...args) {
    const made = original.apply(this, args);
    try {
      const call = current();
      if (call !== undefined && made.getHeader('host') === front && !made.headersSent) {
        made.setHeader(HEADER, String(call));
        count(call, made.path);
      }
    } catch {
      // Sends the request unchanged.
    }
    return made;
  };
  http.get = (...args) => {
    const made = http.request(...args);
    made.end();
    return made;
  };
  syncBuiltinESMExports();
  return (call) => {
    const requests = begun.get(call) ?? 0;
    begun.delete(call);
    return requests;
  };
}

function frontOf(rules) {
  try {
    return JSON.parse(rules).front;
  } catch {
    return undefined;
  }
}
