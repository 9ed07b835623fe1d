// A part of register.cjs, in the user's programs.
'use strict';

/**
 * Whatever client a program uses, its requests are written to a socket, before they are encrypted. A model's call that is
 * written to another socket than one of the front was not led away: it is told of before it is sent, and in replay not sent.
 */
module.exports = ({ front, isOffline, isModelHost, tellPast, isPast }) => {
  const { Socket } = require('node:net');
  const { connect, _write, _writev } = Socket.prototype;
  const toFront = new WeakSet();
  /** Those that this program has opened: standard output is a socket too. */
  const opened = new WeakSet();
  /** The beginning of a request whose first line is not complete. */
  const begun = new WeakMap();
  const [frontHost, frontPort] = [front.replace(/:\d+$/, ''), front.replace(/^.*:/, '')];
  Socket.prototype.connect = function (...args) {
    opened.add(this);
    try {
      const [first] = args;
      const given = Array.isArray(first) ? first[0] : first;
      const { port, host } = given !== null && typeof given === 'object' ? given : { port: first, host: args[1] };
      const isFront = String(port) === frontPort && (host === frontHost || host === 'localhost');
      if (isFront) toFront.add(this);
      else toFront.delete(this);
      if (isModelHost(String(host)) && offersHttp2(this)) {
        tellPast(host, () => isOffline && this.destroy(refusal(host)));
        if (isOffline) return this;
      }
    } catch {
      // What cannot be read is not the front.
    }
    return connect.apply(this, args);
  };
  /** HTTP/2 is written past the stream: at a host that is known for models it is taken for a call. */
  const offersHttp2 = ({ _tlsOptions }) => String(_tlsOptions?.ALPNProtocols).includes('h2');
  const refusal = (host) => {
    const error = new Error(`agentci replay: a call of a model at ${host} cannot be led to the recording`);
    // Where it was made is not what the program can do about it.
    error.stack = String(error);
    return error;
  };
  /** One that is encrypted may have been opened in a tunnel. */
  const isWatched = (socket) =>
    socket.encrypted ? !socket._tlsOptions?.isServer : opened.has(socket) && !toFront.has(socket);
  /** Where a model's call goes that is about to be written past the front. */
  const pastOf = (socket, chunk, encoding) => {
    const before = begun.get(socket);
    if (before === undefined && !mayBegin(chunk)) return undefined;
    const text = (before ?? '') + textOf(chunk, encoding);
    begun.delete(socket);
    const [, method, target] = /^([A-Z]{3,7}) (\S+) HTTP\/1\.[01]\r\n/.exec(text) ?? [];
    if (method === undefined) {
      if (/^[A-Z]{1,7}(?: \S*(?: [HTP/1.]*\r?)?)?$/.test(text) && text.length < MAX_HEAD) begun.set(socket, text);
      return undefined;
    }
    const end = text.indexOf('\r\n\r\n');
    const head = end < 0 ? text : text.slice(0, end);
    const address = /^https?:/i.test(target)
      ? target
      : `${socket.encrypted ? 'https' : 'http'}://${/\r\nhost:[ \t]*([^\s/]+)/i.exec(head)?.[1] ?? 'localhost'}${target}`;
    const body = end < 0 ? undefined : text.slice(end + 4);
    const url = new URL(address);
    // One that is meant for the front, on a connection to somewhere else.
    const isAstray = url.host === front && !toFront.has(socket);
    return isAstray || isPast(url, { method, body }) ? url.host : undefined;
  };
  const write = (socket, past, proceed, callback) => {
    tellPast(past, () => {
      if (!isOffline) return proceed();
      const error = refusal(past);
      callback(error);
      socket.destroy(error);
    });
  };
  const looked = (socket, chunk, encoding) => {
    try {
      return pastOf(socket, chunk, encoding);
    } catch {
      return undefined;
    }
  };
  Socket.prototype._write = function (chunk, encoding, callback) {
    const past = isWatched(this) ? looked(this, chunk, encoding) : undefined;
    if (past === undefined) return _write.call(this, chunk, encoding, callback);
    return write(this, past, () => _write.call(this, chunk, encoding, callback), callback);
  };
  Socket.prototype._writev = function (chunks, callback) {
    const [first] = chunks;
    // The head of a request and its body may be two pieces.
    const isHead = first !== undefined && isWatched(this) && (begun.has(this) || mayBegin(first.chunk));
    const whole = isHead ? chunks.map((each) => textOf(each.chunk, each.encoding)).join('') : undefined;
    const past = whole === undefined ? undefined : looked(this, whole, 'latin1');
    if (past === undefined) return _writev.call(this, chunks, callback);
    return write(this, past, () => _writev.call(this, chunks, callback), callback);
  };
  const MAX_HEAD = 8192;
  const MAX_TEXT = 256 * 1024;
  const isCapital = (code) => code >= 0x41 && code <= 0x5a;
  const mayBegin = (chunk) => isCapital(typeof chunk === 'string' ? chunk.charCodeAt(0) : chunk?.[0]);
  const textOf = (chunk, encoding) =>
    typeof chunk !== 'string'
      ? Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.byteLength, MAX_TEXT)).toString('latin1')
      : /^(?:hex|base64|base64url|utf-?16le|ucs-?2)$/i.test(encoding ?? '')
        ? Buffer.from(chunk, encoding).toString('latin1', 0, MAX_TEXT)
        : chunk.slice(0, MAX_TEXT);
};
