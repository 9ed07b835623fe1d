import { isObject, present } from '@agentci/lib/data';
import { isSecretName, maskAllSecrets } from '@agentci/lib/secrets';
import type { Block, BlockValue } from '../../model.ts';
import type { Vars } from './render.ts';
import type { RunnerOutcome } from './runner-outcome.ts';

const RUN = new Set(['query', 'id', 'run', 'metadata', 'message', 'messages', 'conversation']);

const holdsSecret = (text: string): boolean => maskAllSecrets(text, () => '') !== text;
/** A login, a text in the form of a key, or a parameter with the name of one. */
const hasCredential = (url: string): boolean =>
  holdsSecret(url) ||
  [...url.matchAll(/[?&]([^=&]+)=([^&]+)/g)].some(
    ([, name, value]) => isSecretName(name!) && !/\{\{/.test(value!),
  );

/**
 * The texts of a request: `{{prompt}}` becomes `{{query}}`, and `{{env.KEY}}` in a header becomes
 * `${KEY}`.
 */
class Texts {
  readonly variables = new Set<string>();
  why: string | undefined;
  /** Parts left out of a request that is still usable. */
  left: string | undefined;

  fill(text: string, mayBeEnv: boolean): string {
    if (/\{%|\{#/.test(text)) this.why ??= 'template logic ({% … %}) is not carried';
    return text.replace(/\{\{([\s\S]*?)\}\}/g, (_, inside: string) => {
      const name = inside.trim();
      const env =
        /^env\.([A-Za-z_]\w*)$/.exec(name) ?? /^env\[['"]([A-Za-z_]\w*)['"]\]$/.exec(name);
      if (name === 'prompt') return '{{query}}';
      if (env !== null && mayBeEnv) return `\${${env[1]}}`;
      if (env !== null)
        this.why ??= `{{${name}}} in the body: only headers and the URL read the environment`;
      else if (!/^[A-Za-z_]\w*$/.test(name))
        this.why ??= `{{${name.slice(0, 60)}}} is more than a variable`;
      else if (RUN.has(name)) this.why ??= `the variable "${name}" has a special meaning here`;
      else this.variables.add(name);
      return `{{${name}}}`;
    });
  }

  /** A header. A literal credential is not copied and must come from the environment. */
  header(name: string, text: string): string {
    const filled = this.fill(text, true);
    if (
      /\$\{|\{\{/.test(filled) ||
      !(
        isSecretName(name) ||
        /^(?:proxy-)?authorization$|^cookie$/i.test(name) ||
        holdsSecret(text)
      )
    )
      return filled;
    const scheme = /^(?:bearer|basic|token|apikey)\s+/i.exec(text)?.[0] ?? '';
    const variable = name
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_');
    this.left ??= `the credential in the header ${name.slice(0, 60)} is not copied: set ${variable}`;
    return `${scheme}\${${variable}}`;
  }

  fillAll(value: unknown, key = ''): BlockValue {
    if (typeof value === 'string') {
      if (holdsSecret(value) || (isSecretName(key) && value !== '' && !value.includes('{{')))
        this.why ??= `its body holds a credential${key === '' ? '' : ` ("${key.slice(0, 60)}")`}, which is not copied`;
      return this.fill(value, false);
    }
    if (Array.isArray(value)) return value.map((item) => this.fillAll(item));
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, this.fillAll(item, name)]),
      );
    return value as BlockValue;
  }
}

/** An HTTP provider as a runner, if request and answer need no code. */
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
  let method: string;
  if (typeof config.method === 'string') method = config.method.toUpperCase();
  else if (config.body === undefined) method = 'GET';
  else method = 'POST';
  if (!['GET', 'POST', 'PUT', 'PATCH'].includes(method))
    return { none: `the method ${method.slice(0, 20)} is not sent` };
  const texts = new Texts();
  const answer = pointerOf(config.transformResponse ?? config.responseParser);
  const headers = isObject(config.headers)
    ? Object.fromEntries(
        Object.entries(config.headers).map(([name, value]) => [
          name,
          texts.header(name, String(value)),
        ]),
      )
    : undefined;
  const body = bodyOf(config.body);
  if (body === undefined && config.body !== undefined)
    return { none: 'its body is a text that is not JSON' };
  const http: Record<string, BlockValue> = { url: texts.fill(url, true), method };
  if (headers !== undefined) http.headers = headers;
  if (body !== undefined) http.body = texts.fillAll(body);
  if (typeof answer === 'string') http.answer = answer;
  if (hasCredential(url))
    return {
      none: 'its URL holds a credential, which is not copied: write {{env.NAME}} in its place',
    };
  if (texts.why !== undefined) return { none: texts.why };
  if (!JSON.stringify(http).includes('{{query}}'))
    return { none: 'the request does not say where the prompt goes' };
  const close = present([
    typeof answer === 'string' ? undefined : answer.why,
    texts.left === undefined ? undefined : texts.left,
  ]).join('; ');
  return {
    runner: { http } satisfies Block,
    close: close !== '' ? close : undefined,
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
  if (written === undefined)
    return { why: 'the whole response is read as the answer or as a recording' };
  const found = typeof written === 'string' ? PATH.exec(written.trim()) : null;
  if (found === null)
    return { why: 'its transformResponse is code, so write `answer`, a JSON pointer' };
  const steps = found[1]!.match(/[A-Za-z_$][\w$]*|\d+|(?<=['"])[^'"]+(?=['"])/g) ?? [];
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
