import type { CassetteMode } from './session.ts';
import type { UserWords } from './user-words.ts';

/** The result of asking for the user's next message. */
export type UserTake =
  | { readonly kind: 'known'; readonly words: UserWords }
  | { readonly kind: 'ask' }
  | { readonly kind: 'missed'; readonly why: string };

/**
 * The messages of the user in one run of a conversation: taken from the cassette, or asked for and
 * stored.
 */
export class UserTape {
  readonly #mode: CassetteMode;
  readonly #file: string;
  readonly #known: readonly UserWords[];
  readonly #used = new Set<UserWords>();
  readonly #fresh: UserWords[] = [];
  #miss: string | undefined;

  constructor(mode: CassetteMode, known: readonly UserWords[], file: string) {
    this.#mode = mode;
    this.#known = mode === 'record' ? [] : known;
    this.#file = file;
  }

  /** `said` is the number of messages so far, for the error message. */
  take(key: string, said: number): UserTake {
    const words = this.#known.find((each) => each.key === key && !this.#used.has(each));
    if (words !== undefined) {
      this.#used.add(words);
      return { kind: 'known', words };
    }
    if (this.#mode !== 'replay') return { kind: 'ask' };
    this.#miss =
      this.#known.length === 0
        ? `${this.#file} does not hold the words of the user, whom a model plays`
        : `${this.#file} does not hold what the user says after ${said} messages: the brief, the model of the user or an earlier message differs from the recording`;
    return { kind: 'missed', why: this.#miss };
  }

  keep(words: UserWords): void {
    this.#fresh.push(words);
  }

  get missText(): string | undefined {
    return this.#miss;
  }

  /** All messages that the cassette should contain. */
  get words(): readonly UserWords[] {
    return [...this.#known, ...this.#fresh];
  }

  get hasNew(): boolean {
    return this.#fresh.length > 0;
  }

  get hits(): number {
    return this.#used.size;
  }

  get unused(): number {
    return this.#known.length - this.#used.size;
  }
}
