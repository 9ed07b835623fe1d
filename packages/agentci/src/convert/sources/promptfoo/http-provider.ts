import { isObject } from '../../../kit/object.ts';
import type { Block, BlockValue } from '../../model.ts';
import type { Vars } from './render.ts';
import type { RunnerOutcome } from './runner-outcome.ts';

const RUN = new Set(['query', 'id', 'run', 'metadata', 'message', 'messages', 'conversation']);

/** The texts of a request: `{{prompt}}` is `{{query}}` here, and `{{env.KEY}}` in a header is `${KEY}`. */
class Texts {
  readonly variables = new Set<string>();
  why: string | undefined;

  fill(text: string, mayBeEnv: boolean): string {
    if (/\{%|\{#/.test(text)) this.why ??= 'template logic ({% … %}) is not carried';
    return text.replace(/\{\{([\s\S]*?)\}\}/g, (_, inside: string) => {
      const name = inside.trim();
      const env = /^env\.([A-Za-z_]\w*)$/.exec(name) ?? /^env\[['"]([A-Za-z_]\w*)['"]\]$/.exec(name);
      if (name === 'prompt') return '{{query}}';
      if (env !== null && mayBeEnv) return `\${${env[1]}}`;
      if (env !== null) this.why ??= `{{${name}}} in the body: only headers and the URL read the environment`;
      else if (!/^[A-Za-z_]\w*$/.test(name)) this.why ??= `{{${name.slice(0, 60)}}} is more than a variable`;
      else if (RUN.has(name)) this.why ??= `the variable "${name}" has a meaning of its own here`;
      else this.variables.add(name);
      return `{{${name}}}`;
    });
  }

  fillAll(value: unknown): BlockValue {
    if (typeof value === 'string') return this.fill(value, false);
    if (Array.isArray(value)) return value.map((item) => this.fillAll(item));
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.fillAll(item)]));
    return value as BlockValue;
  }
}

/** An HTTP provider as a runner, where request and answer can be said without code. */
export function httpRunner(id: string, config: Vars): RunnerOutcome {
  const url = typeof config.url === 'string' ? config.url : id;
  if (!/^https?:\/\//.test(url)) return { none: 'it has no URL' };
  for (const key of [
    'request',
    'transformRequest',
    'requestParser',
    'sessionParser',
    'signatureAuth',
    'queryParams',
    'auth',
    'tls',
  ])
    if (config[key] !== undefined) return { none: `its "${key}" is not carried` };
  const method =
    typeof config.method === 'string' ? config.method.toUpperCase() : config.body === undefined ? 'GET' : 'POST';
  if (!['GET', 'POST', 'PUT', 'PATCH'].includes(method))
    return { none: `the method ${method.slice(0, 20)} is not sent` };
  const texts = new Texts();
  const answer = pointerOf(config.transformResponse ?? config.responseParser);
  const headers = isObject(config.headers)
    ? Object.fromEntries(Object.entries(config.headers).map(([name, value]) => [name, texts.fill(String(value), true)]))
    : undefined;
  const body = bodyOf(config.body);
  if (body === undefined && config.body !== undefined) return { none: 'its body is a text that is not JSON' };
  const http: Record<string, BlockValue> = { url: texts.fill(url, true), method };
  if (headers !== undefined) http.headers = headers;
  if (body !== undefined) http.body = texts.fillAll(body);
  if (typeof answer === 'string') http.answer = answer;
  if (texts.why !== undefined) return { none: texts.why };
  if (!JSON.stringify(http).includes('{{query}}')) return { none: 'the request does not say where the prompt goes' };
  return {
    runner: { http } satisfies Block,
    ...(typeof answer === 'string' ? {} : { close: answer.why }),
    variables: [...texts.variables],
  };
}

function bodyOf(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const PATH = /^json((?:\.[A-Za-z_$][\w$]*|\[\d+\]|\[['"][^'"]+['"]\])*)$/;

/** `json.choices[0].message.content` as a JSON pointer. */
function pointerOf(written: unknown): string | { readonly why: string } {
  if (written === undefined) return { why: 'the whole response is read as the answer or as a recording' };
  const found = typeof written === 'string' ? PATH.exec(written.trim()) : null;
  if (found === null) return { why: 'its transformResponse is code; write `answer`, a JSON pointer' };
  const steps = found[1]!.match(/[A-Za-z_$][\w$]*|\d+|(?<=['"])[^'"]+(?=['"])/g) ?? [];
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
