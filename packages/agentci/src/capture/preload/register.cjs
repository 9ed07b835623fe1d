// Loaded into Node programs by NODE_OPTIONS=--require while their agent is captured, for SDKs that honour no variable: calls
// of known model hosts are sent through the capture. Plain JavaScript without imports of ours, since it runs in the user's
// programs, threads and child processes. It prints nothing, and where anything is odd the call is made as it was written.
//
// --require and not --import: with the latter Node loads every main file as an ES module would be loaded, and Node before
// 18.18 does not start at all.
'use strict';

(() => {
  let rules;
  try {
    rules = JSON.parse(process.env.AGENTCI_PRELOAD);
  } catch {
    return;
  }
  const mark = Symbol.for('agentci.preload');
  if (globalThis[mark] === true || typeof rules !== 'object' || rules === null) return;
  Object.defineProperty(globalThis, mark, { value: true });

  const { front, base, hosts = [], patterns = [], roots = [], calls } = rules;
  const names = new Set(hosts);
  const expressions = patterns.map((source) => new RegExp(source));
  const isModelHost = (name) => names.has(name) || expressions.some((expression) => expression.test(name));

  /** Set in replay: what looks like a model's call is not made, whatever its address is. */
  const modelCall = calls === undefined ? undefined : new RegExp(calls, 'i');
  const isPlainHttpOurs = modelCall !== undefined || roots.some(([root]) => root.startsWith('http:'));

  /** Where a call goes instead, or undefined where it is none of ours. */
  const moved = (url, method) => {
    const name = url.hostname.replace(/\.+$/, '');
    if (url.protocol === 'https:' && (url.port === '' || url.port === '443') && isModelHost(name))
      return `${base}/@${name}${url.pathname}${url.search}`;
    for (const [root, provider] of roots) {
      const rest = url.origin + url.pathname;
      if (rest === root || rest.startsWith(`${root}/`))
        return `${base}/${provider}${rest.slice(root.length)}${url.search}`;
    }
    if (modelCall === undefined || url.host === front || !/^post$/i.test(method ?? '')) return undefined;
    return /^https?:$/.test(url.protocol) && modelCall.test(url.host + url.pathname.replace(/\/+$/, ''))
      ? `${base}/@${url.host}${url.pathname}${url.search}`
      : undefined;
  };
  /** Programs call a few addresses many times, and reading one takes as long as much of the call. */
  const known = new Map();
  const movedText = (text, method) => {
    const key = `${method} ${text}`;
    if (known.has(key)) return known.get(key);
    let to;
    try {
      to = moved(new URL(text), method);
    } catch {
      to = undefined;
    }
    if (known.size >= 100) known.clear();
    if (key.length < 1000) known.set(key, to);
    return to;
  };

  const isGone = (error) => {
    const cause = error && (error.cause ?? error);
    return cause !== null && typeof cause === 'object' && cause.code === 'ECONNREFUSED';
  };

  /** A call whose body can be sent twice is made as it was written when the capture is no longer there. */
  const wrapFetch = (original) => {
    const fetch = function fetch(...args) {
      const [input, init] = args;
      let target;
      try {
        const isRequest = typeof Request === 'function' && input instanceof Request;
        const to = movedText(
          isRequest ? input.url : String(input),
          init?.method ?? (isRequest ? input.method : undefined),
        );
        if (to !== undefined) target = isRequest ? new Request(to, input) : to;
      } catch {
        target = undefined;
      }
      if (target === undefined) return original.apply(this, args);
      const body = init?.body;
      const canRepeat =
        modelCall === undefined &&
        typeof target === 'string' &&
        (body == null || typeof body === 'string' || ArrayBuffer.isView(body));
      const sent = original.call(this, target, init);
      return canRepeat
        ? sent.catch((error) => {
            if (isGone(error)) return original.call(this, input, init);
            throw error;
          })
        : sent;
    };
    return fetch;
  };

  const done = new WeakSet();
  const once = (patch) => (exports) => {
    try {
      if (exports === null || typeof exports !== 'object' || done.has(exports)) return;
      done.add(exports);
      patch(exports);
    } catch {
      // The program continues without it.
    }
  };

  /** `request(url?, options?, callback?)` of node:http and node:https. */
  const patchHttp = (http, owner, scheme) => {
    const { request, get } = owner;
    const through = (args) => {
      const rest = [...args];
      const callback = typeof rest.at(-1) === 'function' ? rest.pop() : undefined;
      const [first, second] = rest;
      const isAddress = typeof first === 'string' || first instanceof URL;
      const options = { ...(isAddress ? second : first) };
      if (options.socketPath || options.createConnection) return undefined;
      let url;
      if (isAddress) url = new URL(String(first));
      else {
        const name = String(options.hostname || options.host || 'localhost').replace(/:\d+$/, '');
        const port = options.port || options.defaultPort || '';
        url = new URL(`${options.protocol || scheme}//${name}${port === '' ? '' : `:${port}`}${options.path || '/'}`);
      }
      if (isAddress && options.path) url = new URL(options.path, url.origin);
      const to = moved(url, options.method);
      if (to === undefined) return undefined;
      const { hostname, port, pathname, search } = new URL(to);
      const plain = { method: options.method, timeout: options.timeout, signal: options.signal, auth: options.auth };
      for (const key of ['insecureHTTPParser', 'maxHeaderSize', 'setHost', 'joinDuplicateHeaders'])
        if (options[key] !== undefined) plain[key] = options[key];
      for (const key of Object.keys(plain)) if (plain[key] === undefined) delete plain[key];
      return [
        { ...plain, protocol: 'http:', hostname, port, path: pathname + search, headers: withoutHost(options.headers) },
        callback,
      ];
    };
    const plainRequest = http[mark] ?? http.request;
    if (http[mark] === undefined) Object.defineProperty(http, mark, { value: http.request });
    owner.request = function (...args) {
      let given;
      try {
        given = through(args);
      } catch {
        given = undefined;
      }
      if (given === undefined) return request.apply(this, args);
      const [options, callback] = given;
      const made = plainRequest.call(http, options, callback);
      // Some clients name the host themselves; the capture takes only its own name.
      try {
        made.setHeader('host', front);
      } catch {
        // Headers given as a list are sent at once.
      }
      return made;
    };
    owner.get = function (...args) {
      let isOurs = false;
      try {
        isOurs = through(args) !== undefined;
      } catch {
        isOurs = false;
      }
      if (!isOurs) return get.apply(this, args);
      const made = owner.request(...args);
      made.end();
      return made;
    };
  };

  const withoutHost = (headers) => {
    if (Array.isArray(headers)) {
      const flat = headers.flat();
      return flat.flatMap((name, i) =>
        i % 2 === 1 ? [] : /^host$/i.test(String(name)) ? [name, front] : [name, flat[i + 1]],
      );
    }
    return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !/^host$/i.test(name)));
  };

  let hasHttp = false;
  /** Loading these takes some milliseconds, so it is left until a program does it. */
  const patchBuiltins = () => {
    if (hasHttp) return;
    hasHttp = true;
    try {
      const http = require('node:http');
      const https = require('node:https');
      patchHttp(http, https, 'https:');
      if (isPlainHttpOurs) patchHttp(http, http, 'http:');
      require('node:module').syncBuiltinESMExports();
    } catch {
      // The program continues without it.
    }
  };

  /** undici as a package has functions and a dispatcher of its own. */
  const patchUndici = once((undici) => {
    if (typeof undici.fetch === 'function') undici.fetch = wrapFetch(undici.fetch);
    if (typeof undici.getGlobalDispatcher !== 'function' || typeof undici.setGlobalDispatcher !== 'function') return;
    const dispatcher = undici.getGlobalDispatcher();
    if (typeof dispatcher.compose !== 'function') return;
    undici.setGlobalDispatcher(
      dispatcher.compose((dispatch) => (options, handler) => {
        let given = options;
        try {
          const to = movedText(new URL(options.path, options.origin), options.method);
          if (to !== undefined) {
            const { origin, pathname, search } = new URL(to);
            given = { ...options, origin, path: pathname + search, headers: hostless(options.headers) };
          }
        } catch {
          given = options;
        }
        return dispatch(given, handler);
      }),
    );
  });
  const hostless = (headers) =>
    Array.isArray(headers) || (headers && typeof headers[Symbol.iterator] === 'function')
      ? headers
      : withoutHost(headers);

  try {
    if (typeof globalThis.fetch === 'function') globalThis.fetch = wrapFetch(globalThis.fetch);
    const Module = require('node:module');
    const load = Module._load;
    Module._load = function (request, ...rest) {
      if (hasHttp === false && /^(?:node:)?https?$/.test(request)) patchBuiltins();
      const exports = load.call(this, request, ...rest);
      if (/(?:^|[\\/])undici(?:[\\/]index\.js)?$/.test(request)) patchUndici(exports);
      return exports;
    };
    watchBuiltins();
  } catch {
    // The program continues without it.
  }

  /**
   * ES modules import what is built in without a word to the loader. But node:https makes an agent when it is loaded, and an
   * agent is an EventEmitter: then the module's own code has not run yet.
   */
  function watchBuiltins() {
    const EventEmitter = require('node:events');
    const { init } = EventEmitter;
    const needed = isPlainHttpOurs ? 'NativeModule http' : 'NativeModule https';
    const look = () => {
      if (hasHttp || !process.moduleLoadList.includes(needed)) return;
      patchBuiltins();
      if (EventEmitter.init === watched) EventEmitter.init = init;
    };
    const watched = function (options) {
      if (!hasHttp && this.constructor?.name === 'Agent') queueMicrotask(look);
      return init.call(this, options);
    };
    EventEmitter.init = watched;
  }
})();
