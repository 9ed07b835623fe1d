import { defined } from '../data/defined.ts';

/** Tokens of one model call. `input` includes cached tokens. */
interface TokenUsage {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly audioIn?: number;
  readonly audioOut?: number;
}

interface PricedCall {
  readonly model: string;
  readonly provider?: string;
  readonly usage: TokenUsage;
  /** Time of the call, in epoch milliseconds. Prices change over time. */
  readonly at?: number;
}

/** A price list with its name and date, which computed costs report. */
export interface PriceTable {
  readonly name: string;
  readonly date: string;
  /** Dollars of a call. Undefined, never 0, if the model is not in the table. */
  readonly lookup: (call: PricedCall) => { usd: number; prices: string } | undefined;
}

/**
 * Version of the installed @pydantic/genai-prices, which does not export it. A test compares them.
 */
export const PRICES_VERSION = '0.1.8';
const PRICES_DATE = '2026-09-23';
/** Calls without a time use the table's date, so that the same trace costs the same tomorrow. */
const PRICES_TIME = new Date(`${PRICES_DATE}T12:00:00Z`);

const MAX_NAME_LENGTH = 200;
const MAX_REMEMBERED = 1000;

/** Loads the bundled price table. Lazy, because it has half a megabyte. */
export async function loadPrices(): Promise<PriceTable> {
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices');
  const name = `genai-prices ${PRICES_VERSION} (${PRICES_DATE})`;
  type Found = { readonly model: string; readonly providerId: string | undefined } | undefined;

  // Cache, because a lookup takes a tenth of a millisecond and recordings use few models.
  const remembered = new Map<string, Found>();
  const resolve = (model: string, provider: string | undefined): Found => {
    const key = `${provider ?? ''}\n${model}`;
    if (!remembered.has(key)) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(key, search(model, provider));
    }
    return remembered.get(key);
  };
  const search = (model: string, provider: string | undefined): Found => {
    for (const candidate of modelNames(model)) {
      for (const hint of [provider, candidate.provider, undefined]) {
        const providerId =
          hint === undefined ? undefined : findProvider({ providerId: hint.toLowerCase() })?.id;
        if (hint !== undefined && providerId === undefined) continue;
        const options = providerId === undefined ? {} : { providerId };
        const priced = calcPrice({ input_tokens: 1 }, candidate.model, {
          ...options,
          timestamp: PRICES_TIME,
        });
        if (priced) return { model: candidate.model, providerId };
      }
    }
    return undefined;
  };

  const lookup: PriceTable['lookup'] = ({ model, provider, usage, at }) => {
    const found = model.length > MAX_NAME_LENGTH ? undefined : resolve(model, provider);
    if (found === undefined) return undefined;
    const timestamp = at === undefined || !Number.isFinite(at) ? PRICES_TIME : new Date(at);
    const options = found.providerId === undefined ? {} : { providerId: found.providerId };
    try {
      const priced = calcPrice(tableUsage(usage), found.model, { ...options, timestamp });
      return priced && Number.isFinite(priced.total_price)
        ? { usd: priced.total_price, prices: name }
        : undefined;
    } catch {
      // Contradicting counts, such as more cached than input tokens, have no price.
      return undefined;
    }
  };
  return { name, date: PRICES_DATE, lookup };
}

function tableUsage(usage: TokenUsage): Record<string, number> {
  return defined({
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    input_audio_tokens: usage.audioIn,
    output_audio_tokens: usage.audioOut,
  });
}

interface ModelName {
  readonly model: string;
  readonly provider: string | undefined;
}

/**
 * Names to look up, longest first: as written, without provider prefixes (`openai/`, `anthropic:`),
 * then with suffixes removed at dashes. A suffix that is a version number stays: `gpt-5-2` is not
 * `gpt-5`, and a wrong price is worse than none.
 */
function modelNames(model: string): ModelName[] {
  const names: ModelName[] = [];
  let rest = model.trim();
  let provider: string | undefined;
  for (;;) {
    names.push({ model: rest, provider });
    const prefix = /^([a-z0-9_.-]{1,64})[/:](?=.)/i.exec(rest);
    if (prefix === null) break;
    provider = prefix[1];
    rest = rest.slice(prefix[0].length);
  }
  for (const whole of [...names].reverse()) {
    let shorter = whole.model;
    for (;;) {
      const ending = /[-@:][^-@:]*$/.exec(shorter);
      if (
        ending === null ||
        ending.index === 0 ||
        (/^-\d{1,2}(?:\.\d+)?$/.test(ending[0]) && !isDatePart(shorter))
      )
        break;
      shorter = shorter.slice(0, ending.index);
      names.push({ model: shorter, provider: whole.provider });
    }
  }
  return names;
}

/** `2024-07-18` at the end: its `18` and `07` are not version numbers. */
const isDatePart = (name: string): boolean => /-(?:19|20)\d{2}-\d{2}(?:-\d{2})?$/.test(name);

/** Dollars per million tokens, by model name or prefix. */
export type PricesPerMillion = Readonly<
  Record<string, { readonly input: number; readonly output: number }>
>;

/** The cost of one call by a user's table. The longest matching prefix wins. */
export function priceFromTable(options: {
  readonly tablePerMillion: PricesPerMillion;
  readonly model: string;
  readonly tokensIn: number;
  readonly tokensOut: number;
}): number | undefined {
  const { tablePerMillion, tokensIn, tokensOut } = options;
  for (const { model } of modelNames(options.model)) {
    const name = longestPrefix(model, Object.keys(tablePerMillion));
    const price = name === undefined ? undefined : tablePerMillion[name];
    if (price !== undefined) return (tokensIn * price.input + tokensOut * price.output) / 1_000_000;
  }
  return undefined;
}

/** A prefix must end at a word boundary: `gpt-4` is not a prefix of `gpt-4o`. */
function longestPrefix(model: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  for (const name of names) {
    const isPrefix =
      model === name || (model.startsWith(name) && /^[-:@/_]/.test(model.slice(name.length)));
    if (isPrefix && name.length > (best?.length ?? 0)) best = name;
  }
  return best;
}
