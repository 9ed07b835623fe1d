import { type Fields, isFields } from '@agentci/trace';
import { bodyOfBytes, bodyOfText } from '../containers/http-body.ts';

/**
 * A request with its response in the most common form: `{method, uri, request, status, response}`.
 */
export function asPair(value: unknown): unknown {
  if (!isFields(value)) return value;
  return nested(value) ?? intercepted(value) ?? replyAlone(value) ?? value;
}

/** Recorders with nested objects: `{request: {url, body}, response: {status, body}}`. */
function nested({ request, response }: Fields): Fields | undefined {
  if (!isFields(request) || !isFields(response)) return undefined;
  const pieces = Array.isArray(response.chunks)
    ? response.chunks.filter((piece) => typeof piece === 'string')
    : undefined;
  const kept = ['body', 'content'].find((key) => key in response);
  const asked = ['body', 'content'].find((key) => key in request);
  if (asked === undefined || !('url' in request || 'uri' in request)) return undefined;
  if (kept === undefined && pieces === undefined) return undefined;
  return {
    method: request.method,
    uri: request.url ?? request.uri,
    request: bodyOf(request[asked]),
    status: response.status ?? response.status_code,
    response: bodyOf(pieces === undefined ? response[kept!] : pieces.join('')),
  };
}

/** Interceptors that write the parts of an exchange side by side: `{scope, method, path, body, status, response}`. */
function intercepted({ scope, method, path, body, status, response }: Fields): Fields | undefined {
  if (typeof scope !== 'string' || typeof path !== 'string' || typeof status !== 'number')
    return undefined;
  const request = bodyOf(body);
  return {
    method,
    uri: `${scope}${path}`,
    request: isFields(request) ? request : {},
    status,
    response: bodyOf(response),
  };
}

/** A response that was kept without its request: `{status, headers, body}`. */
function replyAlone(value: Fields): Fields | undefined {
  const { status, headers, body } = value;
  const isReply =
    typeof status === 'number' && isFields(headers) && body !== undefined && !('request' in value);
  return isReply ? { request: {}, status, response: bodyOf(body), isReplyAlone: true } : undefined;
}

/** A body as text, parsed value, or compressed bytes in hexadecimal pieces. */
function bodyOf(given: unknown): unknown {
  if (typeof given === 'string')
    return given.startsWith('base64:')
      ? bodyOfBytes(Buffer.from(given.slice(7), 'base64'))
      : bodyOfText(given);
  const isHex =
    Array.isArray(given) &&
    given.length > 0 &&
    given.every((piece) => typeof piece === 'string' && HEX.test(piece));
  return isHex ? bodyOfBytes(Buffer.from(given.join(''), 'hex')) : given;
}
const HEX = /^(?:[0-9a-f]{2})+$/;
