import { didYouMean } from '@agentci/lib/text';
import { type Infer, v } from '@agentci/lib/values';

/**
 * The source of a query's trace: a module, a command, an HTTP endpoint, a model, or a recording.
 */
interface RunnerCommon {
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** An error object is an answer of this agent. */
  readonly acceptsErrors?: boolean;
}

/** The agent is started here and captured from outside. Default: not captured. */
interface Captured {
  readonly capture?: 'auto' | readonly CapturePlane[];
  /** The list of the agent's MCP servers, relative to its folder. */
  readonly mcpConfig?: string;
}

export const CAPTURE_PLANES = ['llm', 'otlp', 'mcp'] as const;
export type CapturePlane = (typeof CAPTURE_PLANES)[number];

export type RunnerConfig = RunnerCommon &
  (
    | ({ readonly kind: 'module'; readonly module: string; readonly export: string } & Captured)
    | ({
        readonly kind: 'command';
        readonly command: readonly string[];
        readonly cwd?: string;
        /** `serve`: the program stays running and answers queries one after the other. */
        readonly mode?: 'serve';
      } & Captured)
    | {
        readonly kind: 'http';
        readonly http: HttpRunnerConfig;
        /** The port of 127.0.0.1 for spans of the agent. Default: none. */
        readonly spansPort?: number;
      }
    | ({ readonly kind: 'model' } & ModelRunnerConfig)
    | { readonly kind: 'replay'; readonly replay: string }
  );

export interface ModelRunnerConfig {
  /** `provider:model`, as in `judge_config`. */
  readonly model: string;
  /** A file, or the prompt itself. */
  readonly prompt?: string;
  readonly temperature?: number;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
}

export interface HttpRunnerConfig {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A template: `{{query}}`, `{{id}}`, `{{run}}`, `{{metadata}}` in strings are filled in. */
  readonly body?: unknown;
  /** JSON pointers into the response. */
  readonly answer?: string;
  readonly trace?: string;
  /** Statuses with an answer, besides 200, 201 and 203. */
  readonly acceptStatus?: readonly number[];
  /** A server to start for the run, and the address that answers when it is ready. */
  readonly start?: { readonly command: readonly string[]; readonly ready: string };
}

export const RUNNER_KINDS = ['module', 'command', 'http', 'model', 'replay'] as const;
export type RunnerKind = (typeof RUNNER_KINDS)[number];

/** One day. Node's timers overflow with longer delays and fire at once. */
export const MAX_TIMEOUT_MS = 86_400_000;

const text = v.string().regex(/\S/);
const argument = v.string().regex(/^[^\0]*$/, 'a program cannot be given a null byte');
const pointer = v
  .string()
  .regex(
    /^(?:\/.*)?$/,
    'a JSON pointer is empty or starts with "/", for example "/choices/0/text"',
  );

const common = {
  timeout_ms: v
    .number()
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe('Time one run may take, in milliseconds'),
  retries: v
    .number()
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe('Repeats after infrastructure errors'),
  env: v
    .record(v.string(), v.union([v.string(), v.number(), v.boolean()]))
    .optional()
    .describe('Environment variables the agent gets'),
};

const live = {
  ...common,
  accept_errors: v
    .boolean()
    .optional()
    .describe('An object with "error" set is an answer of this agent, not a failure of it'),
};

/** For agents that are started here, whose calls can be redirected. */
const started = {
  ...live,
  capture: v
    .union([v.enum(['auto', 'off']), v.array(v.enum([...CAPTURE_PLANES])).min(1)])
    .optional()
    .describe(
      'See from outside what the agent does: auto, off (the default), or a list of llm, otlp and mcp',
    ),
  mcp_config: text
    .optional()
    .describe(
      'With capture: [mcp], the file that lists the MCP servers of the agent (default: .mcp.json)',
    ),
};

/** Default port of exporters. */
const OTLP_PORT = 4318;
const MAX_PORT = 65_535;
const portOf = (address: string): number => Number(/:(\d+)$/.exec(address)?.[1]);

/**
 * An HTTP agent is already running, so its calls cannot be redirected, but it can send its spans
 * here.
 */
const spansOfService = v
  .union([
    v.enum(['auto', 'off']),
    v.array(v.enum([...CAPTURE_PLANES])).min(1),
    v.strictObject({
      otlp: v
        .string()
        .regex(
          /^(?:127\.0\.0\.1|localhost):\d{1,5}$/,
          'an address on this machine, such as "127.0.0.1:4418"',
        )
        .refine((address) => portOf(address) >= 1 && portOf(address) <= MAX_PORT, {
          message: `a port is a number from 1 to ${MAX_PORT}`,
          code: 'SPEC_VALUE',
        })
        .describe('Where the agent sends its spans'),
    }),
  ])
  .refine((value) => !(Array.isArray(value) && (value.includes('llm') || value.includes('mcp'))), {
    message:
      'model calls of an agent behind HTTP cannot be attributed to a query, because it is already running. Receive its spans (capture: [otlp]), start it with `command` or `module`, or let it return a recording (http.trace)',
    code: 'SPEC_VALUE',
  })
  .optional()
  .describe(
    `Receive the spans that the agent sends and that continue the trace of the query: auto or [otlp] on port ${OTLP_PORT}, {otlp: "127.0.0.1:PORT"} on another, off (the default)`,
  );

/** The port for the spans of a service. */
function toSpansPort(written: Infer<typeof spansOfService>): number | undefined {
  if (written === undefined || written === 'off') return undefined;
  return typeof written === 'object' && 'otlp' in written ? portOf(written.otlp) : OTLP_PORT;
}

const PLACEHOLDERS = ['query', 'id', 'run', 'metadata', 'message', 'messages', 'conversation'];
/** `{{query}}` and the other values of a run, with or without spaces inside the braces. */
export const PLACEHOLDER = new RegExp(`\\{\\{\\s*(${PLACEHOLDERS.join('|')})\\s*\\}\\}`, 'g');

const httpKeys = v.strictObject({
  url: v
    .string()
    .regex(/^https?:\/\/\S+$/, 'a URL starts with http:// or https://')
    .describe('Where to ask; {{query}}, {{id}} and {{run}} are filled in, encoded'),
  method: v.enum(['GET', 'POST', 'PUT', 'PATCH']).optional().describe('default: POST'),
  headers: v.record(v.string(), v.string()).optional(),
  body: v
    .unknown()
    .optional()
    .describe(
      'Template of the request: {{query}}, {{id}}, {{run}}, {{metadata}}; in a conversation {{message}}, {{messages}}, {{conversation}}',
    ),
  answer: pointer.optional().describe('JSON pointer to the answer in the response'),
  trace: pointer.optional().describe('JSON pointer to the trace in the response'),
  accept_status: v
    .array(
      v
        .number()
        .int()
        .min(200)
        .max(599)
        .refine((status) => status < 300 || status > 399, {
          message: 'a redirect (3xx) is never an answer, since redirects are not followed',
          code: 'SPEC_VALUE',
        }),
    )
    .min(1)
    .optional()
    .describe('Statuses with an answer, in addition to 200, 201 and 203'),
  start: v
    .array(argument)
    .min(1)
    .refine(([program]) => program === undefined || /\S/.test(program), {
      message: 'the first item is the program to start, but it is blank',
      code: 'SPEC_EMPTY',
    })
    .optional()
    .describe('Program and arguments of a server that is started for the run and stopped after it'),
  ready: v
    .string()
    .regex(/^https?:\/\/\S+$/, 'a URL starts with http:// or https://')
    .optional()
    .describe('Address that answers once the server is ready (needed with start)'),
});

type WrittenHttp = Infer<typeof httpKeys>;

const httpSchema = httpKeys
  .refine(({ start, ready }) => (start === undefined) === (ready === undefined), {
    message:
      '"start" and "ready" go together: a program, and the address that answers once it is ready',
    code: 'SPEC_REQUIRED',
  })
  .refine(hasKnownPlaceholders, {
    message:
      'it contains a misspelled placeholder. There are {{query}}, {{id}}, {{run}} and {{metadata}}, and in conversations {{message}}, {{messages}} and {{conversation}}',
    code: 'SPEC_VARIABLE',
  })
  .refine(saysWhichQuery, {
    message:
      'the request is the same for every query. Put {{query}} into the body, or into the URL of a GET',
    code: 'SPEC_RUNNER_QUERY',
  });

/** Braces may be part of the agent's own syntax, but not around a word similar to ours. */
function hasKnownPlaceholders({ url, body }: WrittenHttp): boolean {
  const names = [...textOf({ url, body }).matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(
    ([, name]) => name!,
  );
  return names.every(
    (name) => PLACEHOLDERS.includes(name) || didYouMean(name, PLACEHOLDERS) === undefined,
  );
}

/** A request without a body sends all values. Any other sends only those it names. */
function saysWhichQuery({ url, method = 'POST', body }: WrittenHttp): boolean {
  const isSent = method !== 'GET';
  if (isSent && body === undefined) return true;
  const sent = isSent ? { url, body } : { url };
  return [...textOf(sent).matchAll(PLACEHOLDER)].some(
    ([, name]) => name !== 'run' && name !== 'conversation',
  );
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? '';

/** The schema of `runner:` by kind. A runner has exactly one kind. */
export const RUNNER_SCHEMAS = {
  module: v.strictObject({
    module: text.describe('Path of a JavaScript or TypeScript module'),
    export: text.optional().describe('Name of the exported function (default: "default")'),
    ...started,
  }),
  command: v.strictObject({
    command: v
      .array(argument)
      .min(1)
      .refine(([program]) => program === undefined || /\S/.test(program), {
        message: 'the first item is the program to run; it is blank',
        code: 'SPEC_EMPTY',
      })
      .describe('Program and its arguments'),
    cwd: text.optional().describe('Folder to run in'),
    mode: v
      .literal('serve')
      .optional()
      .describe('The program stays up: one JSON line in and one out for each query'),
    ...started,
  }),
  http: v.strictObject({
    http: httpSchema,
    ...live,
    capture: spansOfService,
  }),
  model: v.strictObject({
    model: text.describe('The model that is the agent, for example openai:gpt-5-mini'),
    prompt: text
      .optional()
      .describe(
        'File with the prompt, or the prompt itself if it contains whitespace. {{query}} and variables are filled in',
      ),
    temperature: v.number().min(0).max(2).optional(),
    base_url: v
      .string()
      .regex(/^https?:\/\/\S+$/, 'a URL starts with http:// or https://')
      .optional(),
    api_key_env: text.optional().describe('Environment variable that holds the key'),
    ...common,
  }),
  replay: v.strictObject({ replay: text.describe('Recordings: a file or a folder'), ...common }),
} as const;

/** A runner that passed its schema. */
export type WrittenRunner = Infer<(typeof RUNNER_SCHEMAS)[RunnerKind]>;

/** Converts a validated runner to its internal form. */
export function toRunnerConfig(kind: RunnerKind, written: WrittenRunner): RunnerConfig {
  const { timeout_ms: timeoutMs, retries, env } = written;
  const acceptsErrors = 'accept_errors' in written ? written.accept_errors : undefined;
  const rest: RunnerCommon = {
    acceptsErrors,
    timeoutMs,
    retries,
    env:
      env === undefined
        ? undefined
        : Object.fromEntries(Object.entries(env).map(([k, v]) => [k, String(v)])),
  };
  if ('module' in written)
    return {
      kind: 'module',
      module: written.module,
      export: written.export ?? 'default',
      ...toCaptured(written),
      ...rest,
    };
  if ('command' in written) {
    return {
      kind: 'command',
      command: written.command,
      cwd: written.cwd,
      mode: written.mode,
      ...toCaptured(written),
      ...rest,
    };
  }
  if ('http' in written) {
    const spansPort = toSpansPort(written.capture);
    return { kind: 'http', http: toHttp(written.http), spansPort, ...rest };
  }
  if ('model' in written) {
    const { model, prompt, temperature, base_url: baseUrl, api_key_env: apiKeyEnv } = written;
    return {
      kind: 'model',
      model,
      prompt,
      temperature,
      baseUrl,
      apiKeyEnv,
      ...rest,
    };
  }
  if ('replay' in written) return { kind: 'replay', replay: written.replay, ...rest };
  throw new Error(`unhandled runner: ${kind}`);
}

const toCaptured = (written: {
  readonly capture?: Captured['capture'] | 'off' | undefined;
  readonly mcp_config?: string | undefined;
}): Captured =>
  written.capture === undefined || written.capture === 'off'
    ? {}
    : { capture: written.capture, mcpConfig: written.mcp_config };

function toHttp(written: WrittenHttp): HttpRunnerConfig {
  const {
    url,
    method = 'POST',
    headers = {},
    body,
    answer,
    trace,
    accept_status: acceptStatus,
  } = written;
  const { start: command, ready } = written;
  return {
    url,
    method,
    headers,
    body,
    answer,
    trace,
    acceptStatus,
    start: command !== undefined && ready !== undefined ? { command, ready } : undefined,
  };
}
