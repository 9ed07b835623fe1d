import { unpackParcel } from './parcel.ts';

/** Something that came from a worker. */
export interface Delivery {
  /** To be given to `settle` once it is written down. */
  readonly id: string;
  readonly kind: 'result' | 'duplicate' | 'word';
  readonly job: string;
  /** What the agent cost, as far as it is known. */
  readonly costUsd: number;
  /** Unpacks what it says; undefined where it cannot be read. One at a time: whoever can write to the queue may have packed a lot. */
  readonly body: () => unknown;
}

/** An entry of the stream of results. */
export function deliveryOf(id: string, fields: readonly Buffer[]): Delivery {
  const of: Record<string, Buffer | undefined> = Object.create(null);
  for (let i = 0; i + 1 < fields.length; i += 2)
    of[fields[i]!.toString('latin1')] ??= fields[i + 1];
  const kind = of.kind?.toString();
  const cost = Number(of.cost?.toString());
  return {
    id,
    kind: kind === 'result' || kind === 'duplicate' ? kind : 'word',
    job: of.job?.toString() ?? '',
    costUsd: Number.isFinite(cost) && cost > 0 ? cost : 0,
    body: () => unpackParcel(of.data ?? Buffer.alloc(0)),
  };
}
