import { shortHash } from '@agentci/lib/data';

const MAX_ID = 80;

/** A valid id from the name of a case: its words, or a hash if it has none. */
export function idOf(name: string): string {
  const slug = name
    .slice(0, 4 * MAX_ID)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, MAX_ID)
    .replace(/^[-.]+|[-.]+$/g, '');
  return /[A-Za-z0-9]/.test(slug) ? slug : `case-${shortHash(name)}`;
}

/**
 * Makes ids unique: the nth copy gets `-n`. Ids that differ only in case would share a file on some
 * machines.
 */
export class Ids {
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();

  take(name: string): string {
    const base = idOf(name);
    const key = base.toLowerCase();
    let count = this.#counts.get(key) ?? 0;
    let id: string;
    do {
      count++;
      id = count === 1 ? base : `${base}-${count}`;
    } while (this.#taken.has(id.toLowerCase()));
    this.#counts.set(key, count);
    this.#taken.add(id.toLowerCase());
    return id;
  }
}
