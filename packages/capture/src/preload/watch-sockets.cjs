// A part of register.cjs, in the user's programs.
'use strict';

const RequestHeads = require('./request-heads.cjs');

/**
 * All clients write their requests to a socket before encryption. A model call written to a socket
 * that does not lead to the front was not redirected. It is reported before it is sent, and blocked
 * in replay.
 */
module.exports = ({ front, isOffline, isModelHost, tellPast, isPast }) => {
  const { Socket } = require('node:net');
  const { connect, _write, _writev } = Socket.prototype;
  const toFront = new WeakSet();
  /** Sockets opened by this program. Standard output is a socket too. */
  const opened = new WeakSet();
  /** The requests of each connection so far. */
  const heads = new WeakMap();
  const [frontHost, frontPort] = [front.replace(/:\d+$/, ''), front.replace(/^.*:/, '')];
  Socket.prototype.connect = function (...args) {
    opened.add(this);
    heads.delete(this);
    try {
      const [first] = args;
      const given = Array.isArray(first) ? first[0] : first;
      const { port, host } =
        given !== null && typeof given === 'object' ? given : { port: first, host: args[1] };
      const isFront = String(port) === frontPort && (host === frontHost || host === 'localhost');
      if (isFront) toFront.add(this);
      else toFront.delete(this);
      if (isModelHost(String(host)) && offersHttp2(this)) {
        tellPast(host, () => isOffline && this.destroy(refusal(host)));
        if (isOffline) return this;
      }
    } catch {
      // An unreadable address is not the front.
    }
    return connect.apply(this, args);
  };
  /** HTTP/2 bypasses the stream. A connection to a known model host counts as a call. */
  const offersHttp2 = ({ _tlsOptions }) => String(_tlsOptions?.ALPNProtocols).includes('h2');
  const refusal = (host) => {
    const error = new Error(
      `agentci replay: a call of a model at ${host} cannot be led to the recording`,
    );
    // The stack would not help the program.
    error.stack = String(error);
    return error;
  };
  /** An encrypted one may have been opened in a tunnel. */
  const isWatched = (socket) =>
    socket.encrypted ? !socket._tlsOptions?.isServer : opened.has(socket) && !toFront.has(socket);
  /** The target of a model call that is about to bypass the front. */
  const pastOf = (socket, chunks) => {
    let past;
    const onRequest = ({ method, target, header, body }) => {
      const host = header('host') || 'localhost';
      const url = /^https?:/i.test(target)
        ? new URL(target)
        : new URL(
            `${socket.encrypted ? 'https' : 'http'}://${host}${target.startsWith('/') ? target : '/'}`,
          );
      // A request for the front on a connection to another server.
      const isAstray = url.host === front && !toFront.has(socket);
      if (isAstray || isPast(url, { method, body })) past ??= url.host;
    };
    let own = heads.get(socket);
    if (own === undefined) {
      own = { requests: new RequestHeads((request) => own.onRequest(request)), onRequest };
      heads.set(socket, own);
    }
    own.onRequest = onRequest;
    try {
      own.requests.take(chunks);
    } catch {
      // An unreadable request is not a call.
    }
    return past;
  };
  const write = (socket, past, proceed, callback) => {
    tellPast(past, () => {
      if (!isOffline) return proceed();
      const error = refusal(past);
      callback(error);
      socket.destroy(error);
    });
  };
  Socket.prototype._write = function (chunk, encoding, callback) {
    const past = isWatched(this) ? pastOf(this, [{ chunk, encoding }]) : undefined;
    if (past === undefined) return _write.call(this, chunk, encoding, callback);
    return write(this, past, () => _write.call(this, chunk, encoding, callback), callback);
  };
  Socket.prototype._writev = function (chunks, callback) {
    const past = isWatched(this) ? pastOf(this, chunks) : undefined;
    if (past === undefined) return _writev.call(this, chunks, callback);
    return write(this, past, () => _writev.call(this, chunks, callback), callback);
  };
};
