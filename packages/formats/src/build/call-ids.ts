import type { Turn } from './draft.ts';

/**
 * Distinguishes calls with one id, because some models reuse ids in later replies. After a call was
 * answered, the same id with another name or arguments is a new call and gets a number. An
 * identical call is an echo.
 */
export class CallIds {
  readonly #answered = new Set<string>();
  readonly #uses = new Map<string, number>();
  readonly #asked = new Map<string, string>();

  /** The turn with unique call ids. Turns must come in order. */
  distinct(turn: Turn): Turn {
    if (turn.role === 'tool') {
      const { callId } = turn;
      if (callId === undefined) return turn;
      this.#answered.add(callId);
      const own = this.#current(callId);
      return own === callId ? turn : { ...turn, callId: own };
    }
    if (turn.calls === undefined) return turn;
    const calls = turn.calls.map((call) => {
      if (call.id === undefined) return call;
      const asked = JSON.stringify([call.name, call.args ?? call.argsRaw]);
      if (this.#answered.has(call.id) && this.#asked.get(call.id) !== asked) {
        this.#answered.delete(call.id);
        this.#uses.set(call.id, (this.#uses.get(call.id) ?? 1) + 1);
      }
      this.#asked.set(call.id, asked);
      const own = this.#current(call.id);
      return own === call.id ? call : { ...call, id: own };
    });
    // A turn that needs no other ids stays the object it was: callers know their turns by it.
    return calls.every((call, i) => call === turn.calls?.[i]) ? turn : { ...turn, calls };
  }

  #current(id: string): string {
    const uses = this.#uses.get(id);
    return uses === undefined ? id : `${id}#${uses}`;
  }
}
