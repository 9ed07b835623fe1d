// Says with each request to the capture which query it is made for: what an agent does after its answer would otherwise be
// counted with the next one. Nothing is sent to anyone but the capture, which takes the header off.
import { subscribe } from 'node:diagnostics_channel';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const HEADER = 'x-agentci-query';
/** Requests to models, among all that the capture takes. */
const MODEL_PATH = /^\/r\/[^/]+\/llm\//;

/**
 * `current` gives the number of the call that the running code belongs to. What comes back tells how many requests to models
 * a call has begun, whether they have been sent or not; undefined where there is no capture.
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
      // The request is sent as it is.
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
      // The request is sent as it is.
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
