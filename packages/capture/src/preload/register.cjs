// Loaded into Node programs by NODE_OPTIONS=--require while their agent is captured, for SDKs that
// ignore the variables. Redirects calls to known model hosts, and calls that look like model calls,
// through the capture. Plain JavaScript without our imports, because it runs in the user's
// programs, threads and child processes. It prints nothing, and after any error the call is made
// unchanged.
//
// --require and not --import: with the latter Node loads every main file as an ES module, and Node
// before 18.18 does not start at all.
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

  const {
    front,
    base,
    hosts = [],
    patterns = [],
    roots = [],
    calls,
    maybe,
    option,
    isOffline = false,
  } = rules;
  const names = new Set(hosts);
  const expressions = patterns.map((source) => new RegExp(source));
  const isModelHost = (name) =>
    names.has(name) || expressions.some((expression) => expression.test(name));

  /**
   * Host and path of a possible model call, at any address. The front sends it on to that address.
   */
  const modelCall = calls === undefined ? undefined : new RegExp(calls, 'i');
  const isPlainHttpOurs =
    modelCall !== undefined || roots.some(([root]) => root.startsWith('http:'));

  /** Ambiguous paths. The body decides. */
  const maybeCall = maybe === undefined ? undefined : new RegExp(maybe, 'i');
  const isForModel = (body) =>
    typeof body === 'string' &&
    /^\s*\{/.test(body) &&
    /"model"\s*:\s*"/.test(body) &&
    /"(?:messages|input|prompt)"\s*:/.test(body);
  const movedByBody = (text, { method, body } = {}) => {
    if (maybeCall === undefined || !/^post$/i.test(method ?? '') || !isForModel(body))
      return undefined;
    const url = new URL(text);
    return url.host !== front &&
      /^https?:$/.test(url.protocol) &&
      maybeCall.test(url.pathname.replace(/\/+$/, ''))
      ? `${base}/@${url.protocol}${url.host}${url.pathname}${url.search}`
      : undefined;
  };

  /** The new target of a call, or undefined if it is not redirected. */
  const moved = (url, method) => {
    const name = url.hostname.replace(/\.+$/, '');
    if (url.protocol === 'https:' && (url.port === '' || url.port === '443') && isModelHost(name))
      return `${base}/@${name}${url.pathname}${url.search}`;
    for (const [root, provider] of roots) {
      const rest = url.origin + url.pathname;
      if (rest === root || rest.startsWith(`${root}/`))
        return `${base}/${provider}${rest.slice(root.length)}${url.search}`;
    }
    if (modelCall === undefined || url.host === front || !/^post$/i.test(method ?? ''))
      return undefined;
    return /^https?:$/.test(url.protocol) &&
      modelCall.test(url.host + url.pathname.replace(/\/+$/, ''))
      ? `${base}/@${url.protocol}${url.host}${url.pathname}${url.search}`
      : undefined;
  };
  /** Whether a request written to another target than the front should have gone there. */
  const isPast = (url, sent) =>
    (moved(url, sent.method) ?? movedByBody(url.href, sent)) !== undefined;

  /**
   * Cache: programs call a few addresses many times, and parsing one takes as long as much of the
   * call.
   */
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

  /**
   * Reports that a model call bypasses the capture, then lets it continue, or blocks it in offline
   * mode. Waits up to one second for the front.
   */
  const tellPast = (host, then = () => {}) => {
    const http = require('node:http');
    const { hostname, port, pathname } = new URL(`${base}/@past/${host}`);
    const told = (http[mark] ?? http.request).call(http, {
      method: 'POST',
      hostname,
      port,
      path: pathname,
      agent: false,
      timeout: 1000,
    });
    told.on('timeout', () => told.destroy());
    told.on('close', then);
    told.on('error', () => {});
    told.on('response', (reply) => reply.resume());
    told.end();
  };

  /** Programs may check the name of a function and its number of parameters. */
  const alike = (original, replacement) =>
    Object.defineProperties(replacement, {
      name: { value: original.name },
      length: { value: original.length },
    });

  const isGone = (error) => {
    const cause = error && (error.cause ?? error);
    return cause !== null && typeof cause === 'object' && cause.code === 'ECONNREFUSED';
  };

  /** If the capture is gone, a call with a repeatable body is made unchanged. */
  const wrapFetch = (original) => {
    const fetch = function fetch(...args) {
      const [input, init] = args;
      let target;
      try {
        const isRequest = typeof Request === 'function' && input instanceof Request;
        const to =
          movedText(
            isRequest ? input.url : String(input),
            init?.method ?? (isRequest ? input.method : undefined),
          ) ?? (isRequest ? undefined : movedByBody(String(input), init));
        if (to !== undefined) target = isRequest ? new Request(to, input) : to;
      } catch {
        target = undefined;
      }
      // A proxy dispatcher would look for the front on its own machine. Its request is checked when
      // it is sent.
      if (target === undefined || isProxy(init?.dispatcher)) return original.apply(this, args);
      const body = init?.body;
      const canRepeat =
        !isOffline &&
        typeof target === 'string' &&
        (body == null || typeof body === 'string' || ArrayBuffer.isView(body));
      const asked = typeof target === 'string' ? String(input) : input.url;
      const sent = original.call(this, target, init).then((reply) => withUrl(reply, asked));
      return canRepeat
        ? sent.catch((error) => {
            if (isGone(error)) return original.call(this, input, init);
            throw error;
          })
        : sent;
    };
    return alike(original, fetch);
  };

  const isProxy = (dispatcher) => !isOffline && dispatcher?.constructor?.name === 'ProxyAgent';

  /** A reply contains its URL, and the address of the front changes in every run. */
  const withUrl = (reply, asked) => {
    try {
      if (reply.url.startsWith(base))
        Object.defineProperty(reply, 'url', { value: new URL(asked).href });
    } catch {
      // The program created it itself.
    }
    return reply;
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
      let url;
      if (isAddress) url = new URL(String(first));
      else {
        const name = String(options.hostname || options.host || 'localhost').replace(/:\d+$/, '');
        const port = options.port || options.defaultPort || '';
        url = new URL(
          `${options.protocol || scheme}//${name}${port === '' ? '' : `:${port}`}${options.path || '/'}`,
        );
      }
      if (isAddress && options.path) url = new URL(options.path, url.origin);
      const to = moved(url, options.method);
      if (to === undefined) return undefined;
      // The program controls the target of its connections, so the call is made unchanged and
      // reported.
      if (hasOwnWay(options, to)) {
        tellPast(options.socketPath ? 'localhost' : url.host);
        return undefined;
      }
      const { hostname, port, pathname, search } = new URL(to);
      const plain = {
        method: options.method,
        timeout: options.timeout,
        signal: options.signal,
        auth: options.auth ?? authOf(url),
      };
      for (const key of ['insecureHTTPParser', 'maxHeaderSize', 'setHost', 'joinDuplicateHeaders'])
        if (options[key] !== undefined) plain[key] = options[key];
      for (const key of Object.keys(plain)) if (plain[key] === undefined) delete plain[key];
      return [
        {
          ...plain,
          protocol: 'http:',
          hostname,
          port,
          path: pathname + search,
          headers: withoutHost(options.headers),
          agent: frontAgent(http),
        },
        callback,
      ];
    };
    const plainRequest = http[mark] ?? http.request;
    if (http[mark] === undefined) Object.defineProperty(http, mark, { value: http.request });
    owner.request = alike(request, function (...args) {
      let given;
      try {
        given = through(args);
      } catch {
        given = undefined;
      }
      if (given === undefined) return request.apply(this, args);
      const [options, callback] = given;
      const made = plainRequest.call(http, options, callback);
      // Some clients set the host themselves, and the capture accepts only its own name.
      try {
        made.setHeader('host', front);
      } catch {
        // Headers given as a list are sent at once.
      }
      return made;
    });
    owner.get = alike(get, function (...args) {
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
    });
  };

  let agentOfFront;
  /** Like Node's global agent, which a program may have replaced. */
  const frontAgent = (http) => {
    agentOfFront ??= Object.assign(
      new http.Agent({ keepAlive: true, scheduling: 'lifo', timeout: 5000 }),
      {
        createConnection: require('node:net').createConnection,
      },
    );
    return agentOfFront;
  };

  /**
   * Whether only the program itself can make a call, because it has custom connections,
   * certificates, name lookup or a proxy.
   */
  const hasOwnWay = (options, to) => {
    if (options.socketPath || options.createConnection) return true;
    // In replay no server is reached, so the way does not matter.
    if (isOffline) return false;
    const { agent } = options;
    const isUnnamed = to.startsWith(`${base}/@http`);
    return (
      hasOwnProxy(agent) ||
      (isUnnamed &&
        (hasOwnTls(options) ||
          options.lookup !== undefined ||
          agent?.options?.lookup !== undefined))
    );
  };
  /** A proxy in the program's code. A proxy from its environment is the front. */
  const hasOwnProxy = (agent) => {
    const { proxy, proxyOptions } = agent ?? {};
    const host = proxy?.host ?? (proxyOptions && `${proxyOptions.host}:${proxyOptions.port}`);
    return host !== undefined && host !== front;
  };

  const OWN_TLS = ['ca', 'cert', 'key', 'pfx', 'secureContext', 'checkServerIdentity'];
  const hasOwnTls = ({ agent, ...options }) =>
    [options, agent?.options ?? {}].some(
      (given) =>
        given.rejectUnauthorized === false || OWN_TLS.some((name) => given[name] !== undefined),
    );

  /** A user and a password in the address itself. */
  const authOf = ({ username, password }) =>
    username === '' && password === ''
      ? undefined
      : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;

  const withoutHost = (headers) => {
    if (Array.isArray(headers)) {
      const flat = headers.flat();
      return flat.flatMap((name, i) => {
        if (i % 2 === 1) return [];
        if (/^host$/i.test(String(name))) return [name, front];
        return [name, flat[i + 1]];
      });
    }
    return Object.fromEntries(
      Object.entries(headers ?? {}).filter(([name]) => !/^host$/i.test(name)),
    );
  };

  /**
   * The modules of http and https that are not patched yet. Loading them takes some milliseconds,
   * so it is left to the program.
   */
  const unpatched = new Set(isPlainHttpOurs ? ['http', 'https'] : ['https']);
  const patchBuiltin = (name) => {
    if (!unpatched.delete(name)) return;
    try {
      const http = require('node:http');
      patchHttp(http, require(`node:${name}`), `${name}:`);
      require('node:module').syncBuiltinESMExports();
    } catch {
      // The program continues without it.
    }
  };

  /** The undici package has separate functions and a separate dispatcher. */
  const patchUndici = once((undici) => {
    if (typeof undici.fetch === 'function') undici.fetch = wrapFetch(undici.fetch);
    patchClients(undici);
    if (
      typeof undici.getGlobalDispatcher !== 'function' ||
      typeof undici.setGlobalDispatcher !== 'function'
    )
      return;
    const dispatcher = undici.getGlobalDispatcher();
    if (typeof dispatcher.compose !== 'function') return;
    undici.setGlobalDispatcher(
      dispatcher.compose((dispatch) => (options, handler) => {
        let given = options;
        try {
          const to = movedText(new URL(options.path, options.origin), options.method);
          if (to !== undefined) {
            const { origin, pathname, search } = new URL(to);
            given = {
              ...options,
              origin,
              path: pathname + search,
              headers: hostless(options.headers),
            };
          }
        } catch {
          given = options;
        }
        return dispatch(given, handler);
      }),
    );
  });
  /** A client or pool has one server. Possible model calls use a client for the front instead. */
  const patchClients = (undici) => {
    let toFront;
    for (const name of ['Client', 'Pool', 'BalancedPool']) {
      const prototype = undici[name]?.prototype;
      if (typeof prototype?.dispatch !== 'function') continue;
      const { dispatch } = prototype;
      prototype.dispatch = function (options, handler) {
        try {
          if (!this[mark]) {
            const to = movedText(
              new URL(options.path, options.origin ?? originOf(this)).href,
              options.method,
            );
            if (to !== undefined) {
              const { origin, pathname, search } = new URL(to);
              toFront ??= new undici.Pool(origin);
              toFront[mark] = true;
              const given = {
                ...options,
                origin,
                path: pathname + search,
                headers: hostless(options.headers),
              };
              return dispatch.call(toFront, given, handler);
            }
          }
        } catch {
          // Makes the call unchanged.
        }
        return dispatch.call(this, options, handler);
      };
    }
  };
  /** The server of a client, which is a private field. */
  const originOf = (client) => {
    const symbol = Object.getOwnPropertySymbols(client).find(
      ({ description }) => description === 'url',
    );
    return client[symbol]?.origin;
  };
  const hostless = (headers) =>
    Array.isArray(headers) || (headers && typeof headers[Symbol.iterator] === 'function')
      ? headers
      : withoutHost(headers);

  try {
    if (typeof globalThis.fetch === 'function') globalThis.fetch = wrapFetch(globalThis.fetch);
    const Module = require('node:module');
    const load = Module._load;
    Module._load = function (request, ...rest) {
      if (unpatched.size > 0 && /^(?:node:)?https?$/.test(request))
        patchBuiltin(request.replace('node:', ''));
      const exports = load.call(this, request, ...rest);
      if (/(?:^|[\\/])undici(?:[\\/]index\.js)?$/.test(request)) patchUndici(exports);
      return exports;
    };
    watchBuiltins();
    require('./watch-sockets.cjs')({ front, isOffline, isModelHost, tellPast, isPast });
    if (option !== undefined) require('./pass-on.cjs')(option, alike);
  } catch {
    // The program continues without it.
  }

  /**
   * ES modules import built-in modules without the loader. But node:https creates an agent when it
   * is loaded, and an agent is an EventEmitter. At that time the module's own code has not run yet.
   */
  function watchBuiltins() {
    const EventEmitter = require('node:events');
    const { init } = EventEmitter;
    const look = () => {
      // Each can be loaded without the other.
      for (const name of [...unpatched])
        if (process.moduleLoadList.includes(`NativeModule ${name}`)) patchBuiltin(name);
      if (unpatched.size === 0 && EventEmitter.init === watched) EventEmitter.init = init;
    };
    const watched = function (options) {
      if (unpatched.size > 0 && this.constructor?.name === 'Agent') queueMicrotask(look);
      return init.call(this, options);
    };
    EventEmitter.init = watched;
  }
})();
