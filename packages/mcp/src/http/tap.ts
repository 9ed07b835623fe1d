import type { TapSink } from '../tap-log.ts';
import type { HttpMiddle } from './relay.ts';

/** Taps one HTTP request without delaying or changing it. */
export const tapHttp = (log: TapSink): HttpMiddle => ({
  holds: false,
  body: (bytes) => {
    log.add('c2s', bytes);
    return { forward: bytes, replies: [], isBatch: false };
  },
  answer: (bytes) => {
    log.add('s2c', bytes);
    return bytes;
  },
  missed: (bytes) => log.drop('s2c', bytes, 'too_large'),
});
