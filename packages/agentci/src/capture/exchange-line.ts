import {
  bytesToJson,
  EXCHANGE_SCHEMA,
  type ExchangeRecord,
} from '../adapters/formats/agentci-exchange/exchange-record.ts';
import type { Exchange } from './exchange.ts';

/** The exchange as the adapter reads it, its bytes still bytes. */
export function exchangeRecord(exchange: Exchange, run: string): ExchangeRecord {
  const {
    i,
    at,
    provider,
    route,
    method,
    uri,
    request,
    status,
    headers,
    chunks,
    ttfbMs,
    endMs,
    complete,
  } = exchange;
  return {
    schema: EXCHANGE_SCHEMA,
    run,
    i,
    at,
    provider,
    route,
    method,
    uri,
    request,
    ...(exchange.encoding === undefined ? {} : { request_encoding: exchange.encoding }),
    ...(status === undefined ? {} : { response: { status, headers, chunks } }),
    ...(ttfbMs === undefined ? {} : { ttfb_ms: round(ttfbMs) }),
    end_ms: round(endMs),
    complete,
    ...(exchange.why === undefined ? {} : { why: exchange.why }),
    ...(exchange.error === undefined ? {} : { error: exchange.error }),
    ...(exchange.askedUsage === undefined ? {} : { asked_usage: exchange.askedUsage }),
    ...(exchange.served === undefined ? {} : { served: exchange.served }),
  };
}

const round = (ms: number): number => Math.round(ms * 100) / 100;

/** One line of `exchanges.jsonl`, without its end. */
export function exchangeLine(exchange: Exchange, run: string): string {
  const { request, response, ...rest } = exchangeRecord(exchange, run);
  return JSON.stringify({
    ...rest,
    request: bytesToJson(request as Buffer),
    ...(response === undefined
      ? {}
      : {
          response: {
            ...response,
            chunks: exchange.chunks.map(([dt, bytes]) => [round(dt), bytesToJson(bytes)]),
          },
        }),
  });
}
