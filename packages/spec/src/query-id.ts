import { shortHash } from '@agentci/lib/data';

const MAX_SLUG = 40;
const MAX_ID = 100;
/** Otherwise an id could be `..` or similar, and files are named after ids. */
const HAS_WORD = /[A-Za-z0-9]/;
const IS_ASCII = /^[ -~]*$/;

/**
 * The id of a query without one: readable words of its text and eight digits of its hash, the same
 * on every machine.
 */
export function queryId(text: string): string {
  const start = text.slice(0, 4 * MAX_SLUG);
  const slug = (IS_ASCII.test(start) ? start : start.normalize('NFKD').replace(/\p{M}/gu, ''))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '');
  const hash = shortHash(text);
  return slug === '' ? hash : `${slug}-${hash}`;
}

/**
 * An id from a written name: unchanged if valid, otherwise its words, or the hash of its text if it
 * has none.
 */
export function slugOf(written: string): string {
  const text = written.trim();
  if (/^[A-Za-z0-9._-]{1,100}$/.test(text) && HAS_WORD.test(text)) return text;
  const slug = (IS_ASCII.test(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, ''))
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, MAX_ID)
    .replace(/^-+|-+$/g, '');
  return HAS_WORD.test(slug) ? slug : shortHash(text);
}

/** Assigns ids. The nth copy of an id gets the suffix `-n`, unless someone wrote that id. */
export class IdAllocator {
  readonly #taken: Set<string>;
  readonly #counts = new Map<string, number>();

  constructor(written: Iterable<string>) {
    this.#taken = new Set(written);
  }

  allocate(base: string): string {
    let count = this.#counts.get(base) ?? 0;
    let id: string;
    do {
      count++;
      id = count === 1 ? base : `${base}-${count}`;
    } while (this.#taken.has(id));
    this.#counts.set(base, count);
    this.#taken.add(id);
    return id;
  }
}
