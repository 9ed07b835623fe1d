import { UserError } from '@agentci/lib/problems';
import type { CaptureNote, PlaneEnvironment } from './plane.ts';
import { type BaseVariable, PROVIDERS, type Provider } from './providers.ts';
import type { Upstream } from './upstreams.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface ProviderChoice {
  /** Providers named by the user, in addition to those of the environment. */
  readonly providers?: readonly string[];
  /** Upstream by provider, replaces the addresses in the environment. */
  readonly upstreams?: Readonly<Record<string, string>>;
}

/** A provider in use: the target of its calls, and the agent's variables. */
export interface InUse {
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** The address ended with the suffix that its SDKs expect, so the front's address does too. */
  readonly hasTail: boolean;
}

export interface ProvidersInUse {
  readonly inUse: readonly InUse[];
  readonly notes: readonly CaptureNote[];
}

/** The providers that an agent with this environment would call, with their addresses. */
export function providersInUse(env: Env, choice: ProviderChoice = {}): ProvidersInUse {
  const notes: CaptureNote[] = [];
  const named = [...(choice.providers ?? []), ...Object.keys(choice.upstreams ?? {})];
  for (const name of named) refuseUnknown(name);
  const inUse = PROVIDERS.flatMap((provider): InUse[] => {
    const given = choice.upstreams?.[provider.name];
    const set = provider.variables.filter(({ name }) => isSet(env[name]));
    const hasKey = provider.keys.some((name) => isSet(env[name]));
    if (given === undefined && set.length === 0 && !hasKey && !named.includes(provider.name))
      return [];
    const [first] = set;
    let own: string | undefined;
    if (given === undefined) own = first === undefined ? undefined : env[first.name]!;
    else own = given;
    const variable = given === undefined ? first : provider.variables[0];
    const address =
      own === undefined
        ? defaultRoot(provider, env)
        : addressOf(own, given === undefined ? first!.name : provider.name);
    if (address === undefined) {
      notes.push({
        code: 'CAPTURE_NO_UPSTREAM',
        message: `${provider.name} has no default address: set ${provider.variables[0]?.name ?? '--upstream'}, or give --upstream ${provider.name}=URL`,
      });
      return [];
    }
    notes.push(...disagreements(set, env));
    if (own !== undefined)
      notes.push({
        code: 'CAPTURE_UPSTREAM',
        provider: provider.name,
        message: `calls of ${provider.name} go to ${shownHost(address)}, as ${given === undefined ? first!.name : '--upstream'} says`,
      });
    const tail = variable?.tail ?? '';
    const hasTail = own === undefined || address.endsWith(tail);
    const root =
      own !== undefined && hasTail && tail !== '' ? address.slice(0, -tail.length) : address;
    const upstream = {
      provider: provider.name,
      root,
      isOwn: own !== undefined,
      prefixes: provider.prefixes || undefined,
    };
    return [{ provider, upstream, hasTail }];
  });
  return { inUse, notes };
}

/** The variables that send the calls of these providers through the front at `base`. */
export function providerEnvironment(
  base: string,
  { inUse, notes }: ProvidersInUse,
  env: Env,
): PlaneEnvironment {
  const set: Record<string, string> = {};
  const all = [...notes];
  const hasAzure = inUse.some(({ provider }) => provider.name === 'azure');
  for (const { provider, hasTail } of inUse) {
    for (const { name, tail = '' } of provider.variables) {
      if (hasAzure && provider.name === 'openai' && !isSet(env[name])) {
        // AzureOpenAI of the Node SDK throws if this is set in addition to an endpoint.
        if (name === 'OPENAI_BASE_URL')
          all.push({
            code: 'CAPTURE_AZURE',
            message:
              'OPENAI_BASE_URL is not set, since Azure is in use: calls to api.openai.com are not captured',
          });
        continue;
      }
      set[name] = `${base}/llm/${provider.name}${hasTail ? tail : ''}`;
    }
  }
  return { set, notes: all };
}

const isSet = (value: string | undefined): value is string =>
  value !== undefined && value.trim() !== '';

function defaultRoot({ root }: Provider, env: Env): string | undefined {
  return typeof root === 'string' ? root : root(env);
}

/** The address in a variable. `OLLAMA_HOST` may be a host and a port, or only one of them. */
function addressOf(value: string, from: string): string {
  const text = value.trim().replace(/\/+$/, '');
  const full = /^https?:/i.test(text)
    ? text
    : `http://${text.replace(/^0\.0\.0\.0(?=:|$)/, '127.0.0.1')}`;
  const bare =
    from === 'OLLAMA_HOST' && !/^https?:/i.test(text) && !/:\d+(?:\/|$)/.test(text)
      ? `${full}:11434`
      : full;
  try {
    return new URL(bare).href.replace(/\/+$/, '');
  } catch (cause) {
    throw new UserError('OPTION_INVALID', `${from} is not an address that calls can be sent to`, {
      hint: 'An address looks like https://gateway.example.com/v1.',
      cause,
    });
  }
}

const shownHost = (address: string): string => new URL(address).host;

function disagreements(set: readonly BaseVariable[], env: Env): CaptureNote[] {
  const [first, ...others] = set;
  const plain = ({ name, tail = '' }: BaseVariable): string => {
    const value = env[name]!.trim().replace(/\/+$/, '');
    return tail !== '' && value.endsWith(tail) ? value.slice(0, -tail.length) : value;
  };
  const other = others.find((variable) => plain(variable) !== plain(first!));
  if (other === undefined) return [];
  return [
    {
      code: 'CAPTURE_ADDRESSES_DIFFER',
      message: `${first!.name} and ${other.name} differ: ${first!.name} is used`,
    },
  ];
}

function refuseUnknown(name: string): void {
  if (PROVIDERS.some((provider) => provider.name === name)) return;
  throw new UserError('OPTION_INVALID', `unknown provider "${name}"`, {
    hint: `providers: ${PROVIDERS.map((provider) => provider.name).join(', ')}; for any other server that speaks OpenAI's language use --upstream openai=URL`,
  });
}
