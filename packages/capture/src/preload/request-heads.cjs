// A part of register.cjs, in the user's programs.
'use strict';

const MAX_HEAD = 64 * 1024;
/** Maximum number of body bytes to pass on with the head. */
const MAX_BODY = 256 * 1024;
const REQUEST_LINE = /^([A-Z]{3,20}) (\S+) HTTP\/1\.[01]\r\n/;
/** The beginning of a possible request line. */
const BEGUN_LINE = /^[A-Z]{1,20}(?: \S*(?: H?T?T?P?\/?1?\.?[01]?\r?)?)?$/;

/**
 * Tracks the requests that are written to one connection, and passes on the head of each with the
 * start of its body. The content of a body is never a request, and a connection that does not begin
 * with a request has none.
 */
module.exports = class RequestHeads {
  #onRequest;
  /** The expected data: a head, a number of body bytes, a chunk size, or nothing readable. */
  #state = 'head';
  #left = 0;
  #text = '';

  constructor(onRequest) {
    this.#onRequest = onRequest;
  }

  /** Takes data in the order of writing. A head and its body may be two chunks. */
  take(chunks) {
    for (const { chunk, encoding } of chunks) {
      if (this.#state === 'closed') return;
      const bytes =
        typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
      // Most writes are in the middle of a long body.
      if (this.#state === 'body' && this.#text === '' && this.#left >= bytes) this.#skip(bytes);
      else this.#text += latin1Of(chunk, encoding);
    }
    while (this.#text !== '' && this.#step());
  }

  #skip(bytes) {
    this.#left -= bytes;
    if (this.#left === 0) this.#state = this.#afterBody;
  }

  #afterBody = 'head';

  /** Reads one element if it is complete. */
  #step() {
    if (this.#state === 'body') {
      const taken = Math.min(this.#left, this.#text.length);
      this.#text = this.#text.slice(taken);
      this.#skip(taken);
      return true;
    }
    if (this.#state === 'size') return this.#readSize();
    if (this.#state === 'trailer') return this.#readTrailer();
    return this.#readHead();
  }

  #readHead() {
    // Empty lines before a request are allowed.
    this.#text = this.#text.replace(/^(?:\r\n)+/, '');
    if (this.#text === '' || this.#text === '\r') return false;
    const [, method, target] = REQUEST_LINE.exec(this.#text) ?? [];
    if (method === undefined)
      return BEGUN_LINE.test(this.#text) && this.#text.length < MAX_HEAD ? false : this.#close();
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return this.#text.length < MAX_HEAD ? false : this.#close();
    const head = this.#text.slice(0, end + 2);
    this.#text = this.#text.slice(end + 4);
    this.#onRequest({
      method,
      target,
      header: (name) => headerIn(head, name),
      body: this.#text.slice(0, MAX_BODY),
    });
    if (/\bchunked\b/i.test(headerIn(head, 'transfer-encoding') ?? '')) this.#state = 'size';
    else this.#awaitBody(Number(headerIn(head, 'content-length') ?? 0), 'head');
    return true;
  }

  #awaitBody(length, after) {
    this.#afterBody = after;
    this.#left = Number.isSafeInteger(length) && length > 0 ? length : 0;
    this.#state = this.#left === 0 ? after : 'body';
  }

  #readSize() {
    const end = this.#text.indexOf('\r\n');
    if (end < 0) return this.#text.length < MAX_HEAD ? false : this.#close();
    const [, size] = /^([0-9a-f]{1,12})[ \t]*(?:;|$)/i.exec(this.#text.slice(0, end)) ?? [];
    this.#text = this.#text.slice(end + 2);
    if (size === undefined) return this.#close();
    const length = Number.parseInt(size, 16);
    // A line ends each chunk.
    if (length > 0) this.#awaitBody(length + 2, 'size');
    else this.#state = 'trailer';
    return true;
  }

  #readTrailer() {
    const end = this.#text.indexOf('\r\n');
    if (end < 0) return this.#text.length < MAX_HEAD ? false : this.#close();
    this.#text = this.#text.slice(end + 2);
    if (end === 0) this.#state = 'head';
    return true;
  }

  #close() {
    this.#state = 'closed';
    this.#text = '';
    return false;
  }
};

const headerIn = (head, name) =>
  new RegExp(`\\r\\n${name}:[ \\t]*([^\\r]*)\\r\\n`, 'i').exec(head)?.[1].trim();

const latin1Of = (chunk, encoding) => {
  if (typeof chunk !== 'string')
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
  if (/^(?:latin1|binary|ascii)$/i.test(encoding ?? '')) return chunk;
  return Buffer.from(chunk, encoding).toString('latin1');
};
