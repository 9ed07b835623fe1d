/** Words are shorter. */
const MIN_RUN = 14;
const MIN_CORE = 4;

/**
 * What every text has that holds one of the forms, and hardly any other: a run of certain characters as long as those of the
 * forms are. Looking for each form would take many times as long.
 */
export class SecretSign {
  readonly #isMember: Uint8Array;
  readonly #length: number;
  /** Of forms without such a run, what there is of one. */
  readonly #cores: readonly string[];

  /** `characters`: those that a run is made of, all of them ASCII. */
  constructor(forms: readonly string[], characters: RegExp) {
    this.#isMember = Uint8Array.from({ length: 128 }, (_, code) =>
      characters.test(String.fromCharCode(code)) ? 1 : 0,
    );
    const runs = forms.map((form) => this.#longestRun(form));
    this.#length = Math.min(...runs.map((run) => run.length).filter((length) => length >= MIN_RUN));
    const short = runs.filter((run) => run.length < MIN_RUN);
    // One that says too little is in every text.
    this.#cores = [...new Set(short.map((run) => (run.length < MIN_CORE ? '' : run)))];
  }

  isIn(text: string): boolean {
    return this.#cores.some((core) => text.includes(core)) || this.#hasRun(text);
  }

  /** A run of so many characters covers one of every so many: the others need not be looked at. */
  #hasRun(text: string): boolean {
    const length = this.#length;
    for (let at = length - 1; at < text.length; at += length) {
      let start = at;
      while (start >= 0 && start > at - length && this.#has(text, start)) start--;
      if (start === at) continue;
      let end = at + 1;
      while (end < text.length && end - start <= length && this.#has(text, end)) end++;
      if (end - start - 1 >= length) return true;
    }
    return false;
  }

  #has(text: string, at: number): boolean {
    const code = text.charCodeAt(at);
    return code < 128 && this.#isMember[code] === 1;
  }

  #longestRun(text: string): string {
    let longest = '';
    for (let start = 0; start < text.length; start++) {
      let end = start;
      while (end < text.length && this.#has(text, end)) end++;
      if (end - start > longest.length) longest = text.slice(start, end);
      start = end;
    }
    return longest;
  }
}
