type Env = Readonly<Record<string, string | undefined>>;

/** A variable that redirects an SDK's calls. */
export interface BaseVariable {
  readonly name: string;
  /** Suffix of its value that its SDKs expect. */
  readonly tail?: string;
}

export interface Provider {
  readonly name: string;
  /**
   * Default target of its calls, without the suffix. Undefined if each user has a separate address.
   */
  readonly root: string | ((env: Env) => string | undefined);
  /** If one of them is in the environment, the provider is in use. */
  readonly keys: readonly string[];
  /** In the order of preference of the provider's own SDK. */
  readonly variables: readonly BaseVariable[];
  /** Hosts of this provider. */
  readonly hosts: readonly (string | RegExp)[];
  /** Paths of some clients, and the prefix that is missing at the provider's own address. */
  readonly prefixes?: readonly (readonly [start: string, prefix: string])[];
}

const region = (env: Env): string => env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1';
const location = (env: Env): string =>
  env.GOOGLE_CLOUD_LOCATION || env.GOOGLE_CLOUD_REGION || 'global';
const OPENAI_PATHS = ['/chat/completions', '/responses', '/embeddings', '/completions', '/models'];
const under = (prefix: string): NonNullable<Provider['prefixes']> =>
  OPENAI_PATHS.map((start) => [start, prefix]);

/**
 * The variables that redirect the calls of each provider, read from the SDKs. The page on capture
 * lists them by SDK.
 */
export const PROVIDERS: readonly Provider[] = [
  {
    name: 'openai',
    root: 'https://api.openai.com',
    keys: ['OPENAI_API_KEY'],
    variables: [
      { name: 'OPENAI_BASE_URL', tail: '/v1' },
      { name: 'OPENAI_API_BASE', tail: '/v1' },
      { name: 'OPENAI_API_BASE_URL', tail: '/v1' },
      { name: 'OPENAI_HOST' },
    ],
    hosts: ['api.openai.com', /^[a-z]{2}\.api\.openai\.com$/, /^api\.[a-z]{2}\.openai\.com$/],
    prefixes: under('/v1'),
  },
  {
    name: 'azure',
    root: ({ AZURE_RESOURCE_NAME: name }) =>
      name ? `https://${name}.openai.azure.com` : undefined,
    keys: ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_AD_TOKEN', 'AZURE_API_KEY'],
    variables: [
      { name: 'AZURE_OPENAI_ENDPOINT' },
      { name: 'AZURE_ENDPOINT' },
      { name: 'AZURE_API_BASE' },
      { name: 'AZURE_OPENAI_BASE_PATH', tail: '/openai/deployments' },
    ],
    hosts: [
      /\.openai\.azure\.(?:com|us|cn)$/,
      /\.cognitiveservices\.azure\.(?:com|us|cn)$/,
      /\.services\.ai\.azure\.(?:com|us|cn)$/,
    ],
  },
  {
    name: 'anthropic',
    root: 'https://api.anthropic.com',
    keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    variables: [
      { name: 'ANTHROPIC_BASE_URL' },
      { name: 'ANTHROPIC_API_URL' },
      { name: 'ANTHROPIC_API_BASE' },
    ],
    hosts: ['api.anthropic.com'],
    prefixes: [
      ['/messages', '/v1'],
      ['/models', '/v1'],
    ],
  },
  {
    name: 'gemini',
    root: 'https://generativelanguage.googleapis.com',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    variables: [{ name: 'GOOGLE_GEMINI_BASE_URL' }, { name: 'GEMINI_API_BASE' }],
    hosts: ['generativelanguage.googleapis.com'],
    prefixes: [['/models', '/v1beta']],
  },
  {
    name: 'vertex',
    root: (env) =>
      `https://${location(env) === 'global' ? '' : `${location(env)}-`}aiplatform.googleapis.com`,
    keys: ['GOOGLE_GENAI_USE_VERTEXAI', 'CLAUDE_CODE_USE_VERTEX'],
    variables: [
      { name: 'GOOGLE_VERTEX_BASE_URL' },
      { name: 'ANTHROPIC_VERTEX_BASE_URL', tail: '/v1' },
      { name: 'VERTEXAI_API_BASE' },
    ],
    hosts: [/(?:^|-)aiplatform\.googleapis\.com$/],
  },
  {
    name: 'bedrock',
    root: (env) => `https://bedrock-runtime.${region(env)}.amazonaws.com`,
    keys: ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_ACCESS_KEY_ID', 'CLAUDE_CODE_USE_BEDROCK'],
    variables: [
      { name: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME' },
      { name: 'AWS_BEDROCK_RUNTIME_ENDPOINT' },
      { name: 'ANTHROPIC_BEDROCK_BASE_URL' },
      { name: 'AWS_BEDROCK_BASE_URL', tail: '/openai/v1' },
    ],
    hosts: [/^bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/],
  },
  {
    name: 'ollama',
    root: 'http://127.0.0.1:11434',
    keys: [],
    variables: [{ name: 'OLLAMA_HOST' }, { name: 'OLLAMA_BASE_URL' }, { name: 'OLLAMA_API_BASE' }],
    hosts: ['ollama.com'],
    prefixes: under('/v1'),
  },
  {
    name: 'groq',
    root: 'https://api.groq.com',
    keys: ['GROQ_API_KEY'],
    variables: [{ name: 'GROQ_BASE_URL' }, { name: 'GROQ_API_BASE' }],
    hosts: ['api.groq.com'],
    prefixes: under('/openai/v1'),
  },
  {
    name: 'mistral',
    root: 'https://api.mistral.ai',
    keys: ['MISTRAL_API_KEY'],
    variables: [
      { name: 'MISTRAL_BASE_URL', tail: '/v1' },
      { name: 'MISTRAL_API_BASE', tail: '/v1' },
    ],
    hosts: ['api.mistral.ai', 'codestral.mistral.ai'],
    prefixes: under('/v1'),
  },
  {
    name: 'deepseek',
    root: 'https://api.deepseek.com',
    keys: ['DEEPSEEK_API_KEY'],
    variables: [
      { name: 'DEEPSEEK_API_BASE', tail: '/v1' },
      { name: 'DEEPSEEK_BASE_URL', tail: '/v1' },
    ],
    hosts: ['api.deepseek.com'],
  },
  {
    name: 'openrouter',
    root: 'https://openrouter.ai/api',
    keys: ['OPENROUTER_API_KEY'],
    variables: [
      { name: 'OPENROUTER_BASE_URL', tail: '/v1' },
      { name: 'OPENROUTER_API_BASE', tail: '/v1' },
    ],
    hosts: ['openrouter.ai'],
    prefixes: under('/v1'),
  },
  {
    name: 'xai',
    root: 'https://api.x.ai',
    keys: ['XAI_API_KEY'],
    variables: [
      { name: 'XAI_BASE_URL', tail: '/v1' },
      { name: 'XAI_API_BASE', tail: '/v1' },
    ],
    hosts: ['api.x.ai'],
    prefixes: under('/v1'),
  },
  {
    name: 'fireworks',
    root: 'https://api.fireworks.ai/inference',
    keys: ['FIREWORKS_API_KEY'],
    variables: [
      { name: 'FIREWORKS_API_BASE', tail: '/v1' },
      { name: 'FIREWORKS_BASE_URL', tail: '/v1' },
    ],
    hosts: ['api.fireworks.ai'],
    prefixes: under('/v1'),
  },
  {
    name: 'together',
    root: 'https://api.together.xyz',
    keys: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY', 'TOGETHERAI_API_KEY'],
    variables: [
      { name: 'TOGETHER_BASE_URL', tail: '/v1' },
      { name: 'TOGETHERAI_API_BASE', tail: '/v1' },
    ],
    hosts: ['api.together.xyz', 'api.together.ai'],
    prefixes: under('/v1'),
  },
  {
    name: 'cerebras',
    root: 'https://api.cerebras.ai',
    keys: ['CEREBRAS_API_KEY'],
    variables: [
      { name: 'CEREBRAS_BASE_URL', tail: '/v1' },
      { name: 'CEREBRAS_API_BASE', tail: '/v1' },
    ],
    hosts: ['api.cerebras.ai'],
    prefixes: under('/v1'),
  },
  {
    name: 'sambanova',
    root: 'https://api.sambanova.ai',
    keys: ['SAMBANOVA_API_KEY'],
    variables: [{ name: 'SAMBANOVA_BASE_URL', tail: '/v1' }],
    hosts: ['api.sambanova.ai'],
    prefixes: under('/v1'),
  },
  {
    name: 'perplexity',
    root: 'https://api.perplexity.ai',
    keys: ['PERPLEXITY_API_KEY', 'PERPLEXITYAI_API_KEY'],
    variables: [{ name: 'PERPLEXITYAI_API_BASE' }],
    hosts: ['api.perplexity.ai'],
  },
  {
    name: 'cohere',
    root: 'https://api.cohere.com',
    keys: ['CO_API_KEY', 'COHERE_API_KEY'],
    variables: [{ name: 'CO_API_URL' }, { name: 'CO_BASE_URL' }, { name: 'COHERE_API_BASE' }],
    hosts: ['api.cohere.com', 'api.cohere.ai'],
  },
  {
    name: 'dashscope',
    root: 'https://dashscope-intl.aliyuncs.com/compatible-mode',
    keys: ['DASHSCOPE_API_KEY'],
    variables: [
      { name: 'DASHSCOPE_BASE_URL', tail: '/v1' },
      { name: 'DASHSCOPE_API_BASE', tail: '/v1' },
    ],
    hosts: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'dashscope-us.aliyuncs.com'],
    prefixes: under('/v1'),
  },
  {
    name: 'vllm',
    root: () => undefined,
    keys: [],
    variables: [
      { name: 'VLLM_BASE_URL', tail: '/v1' },
      { name: 'VLLM_API_BASE', tail: '/v1' },
    ],
    hosts: [],
  },
  {
    name: 'vercel',
    root: 'https://ai-gateway.vercel.sh',
    keys: ['AI_GATEWAY_API_KEY'],
    variables: [],
    hosts: ['ai-gateway.vercel.sh'],
  },
];

/** A host for comparison. Names may be in capitals and end with a dot. */
export const plainHost = (host: string): string => host.toLowerCase().replace(/\.+$/, '');

/** The provider of a host. A call to it is a model call. */
export function providerOfHost(host: string): Provider | undefined {
  const plain = plainHost(host);
  return PROVIDERS.find(({ hosts }) =>
    hosts.some((known) => (typeof known === 'string' ? known === plain : known.test(plain))),
  );
}

/** Other hosts of models, without variables to redirect their calls. Includes all subdomains. */
const OTHER_MODEL_HOSTS: readonly string[] = [
  'ai21.com',
  'api.anthropic.com',
  'api.minimax.chat',
  'api.minimax.io',
  'api.minimaxi.com',
  'api.z.ai',
  'api-inference.huggingface.co',
  'baseten.co',
  'bigmodel.cn',
  'chatgpt.com',
  'claude.ai',
  'cloud.databricks.com',
  'azuredatabricks.net',
  'gcp.databricks.com',
  'deepinfra.com',
  'gateway.ai.cloudflare.com',
  'githubcopilot.com',
  'copilot-proxy.githubusercontent.com',
  'hyperbolic.xyz',
  'endpoints.huggingface.cloud',
  'inference.ai.azure.com',
  'models.ai.azure.com',
  'models.github.ai',
  'moonshot.ai',
  'moonshot.cn',
  'nebius.ai',
  'nebius.com',
  'novita.ai',
  'api.nvidia.com',
  'api.openai.com',
  'portkey.ai',
  'replicate.com',
  'router.huggingface.co',
  'siliconflow.cn',
  'siliconflow.com',
  'volces.com',
  'voyageai.com',
  'watsonx.ai',
  'ml.cloud.ibm.com',
  'lepton.ai',
  'friendli.ai',
  'aleph-alpha.com',
];
const OTHER_MODEL_NAMES =
  /(?:^|\.)bedrock-(?:agent-)?runtime(?:-fips)?\.[a-z0-9.-]+$|(?:^|\.)bedrock-mantle\.[a-z0-9.-]+$|(?:^|[.-])aiplatform\.googleapis\.com$|^sagemaker-runtime|^runtime\.sagemaker\.|^cloudcode-pa\.googleapis\.com$/;

/** Whether a host serves models. A connection to it that bypasses the capture hides calls. */
export function isModelHost(host: string): boolean {
  const plain = plainHost(host);
  return (
    providerOfHost(plain) !== undefined ||
    OTHER_MODEL_NAMES.test(plain) ||
    OTHER_MODEL_HOSTS.some((known) => plain === known || plain.endsWith(`.${known}`))
  );
}

export const MODEL_HOSTS: readonly (string | RegExp)[] = PROVIDERS.flatMap(({ hosts }) => hosts);

/** A host of each kind in the table. */
export const EXAMPLE_HOSTS: readonly string[] = [
  ...MODEL_HOSTS.filter((host) => typeof host === 'string'),
  'name.openai.azure.com',
  'name.cognitiveservices.azure.com',
  'name.services.ai.azure.com',
  'us-central1-aiplatform.googleapis.com',
  'bedrock-runtime.us-east-1.amazonaws.com',
];
