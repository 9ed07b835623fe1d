import { isFields } from '@agentci/trace';

type Fields = Readonly<Record<string, unknown>>;

/** Pieces of a streamed reply carry their place in it: places that nothing was recorded for, and pieces without a start. */
export class StreamHoles {
  readonly #places = new Map<string, Set<number>>();
  readonly #opened = new Map<string, Set<number>>();
  #lane = '';
  #lost: string | undefined;

  /** Sub-agents stream between the pieces of their caller. */
  lane(record: unknown): void {
    const of = isFields(record) ? record.parent_tool_use_id : undefined;
    this.#lane = typeof of === 'string' ? of : '';
  }

  see(fields: Fields, kind: unknown): void {
    if (kind === 'message_start' || 'messageStart' in fields || kind === 'response.created')
      this.#restart();
    if (typeof kind === 'string' && kind.startsWith('content_block_')) this.#block(fields, kind);
    else if (typeof kind === 'string' && kind.startsWith('response.'))
      this.#note('output', fields.output_index);
    if ('contentBlockIndex' in fields) this.#note('block', fields.contentBlockIndex);
  }

  /** The missing part, if any. */
  get lost(): string | undefined {
    for (const lane of this.#places.keys()) this.#close(lane);
    return this.#lost;
  }

  #block({ index, delta }: Fields, kind: string): void {
    this.#note('content', index);
    if (typeof index !== 'number') return;
    const key = `content ${this.#lane}`;
    if (kind === 'content_block_start') setOf(this.#opened, key).add(index);
    else if (kind === 'content_block_delta' && isFields(delta) && delta.type === 'input_json_delta')
      if (!setOf(this.#opened, key).has(index))
        this.#lost ??= 'a piece of a block that was never opened';
  }

  #note(what: string, place: unknown): void {
    if (typeof place === 'number') setOf(this.#places, `${what} ${this.#lane}`).add(place);
  }

  #restart(): void {
    for (const what of ['content', 'output', 'block']) {
      const key = `${what} ${this.#lane}`;
      this.#close(key);
      this.#places.delete(key);
      this.#opened.delete(key);
    }
  }

  #close(key: string): void {
    const places = this.#places.get(key);
    if (places === undefined || places.size === 0) return;
    // Bedrock leaves out the place of a block that stayed empty.
    if (key.startsWith('block') ? !places.has(0) : Math.max(...places) >= places.size)
      this.#lost ??= 'a block before others of its reply';
  }
}

function setOf(map: Map<string, Set<number>>, key: string): Set<number> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const set = new Set<number>();
  map.set(key, set);
  return set;
}
