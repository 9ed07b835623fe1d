import { bytesToJson, EXCHANGE_SCHEMA, type ExchangeRecord } from '@agentci/formats';
import type { Exchange } from './exchange.ts';

/** The exchange in the format of the adapter, with its bytes. */
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
    request_encoding: exchange.encoding,
    response: status === undefined ? undefined : { status, headers, chunks },
    ttfb_ms: ttfbMs === undefined ? undefined : round(ttfbMs),
    end_ms: round(endMs),
    complete,
    why: exchange.why,
    error: exchange.error,
    asked_usage: exchange.askedUsage,
    served: exchange.served,
    recorded_i: exchange.recordedI,
  };
}

const round = (ms: number): number => Math.round(ms * 100) / 100;

/** One line of `exchanges.jsonl`, without the line break. */
export function exchangeLine(exchange: Exchange, run: string): string {
  const { request, response, ...rest } = exchangeRecord(exchange, run);
  return JSON.stringify({
    ...rest,
    request: bytesToJson(request as Buffer),
    response:
      response === undefined
        ? undefined
        : {
            ...response,
            chunks: exchange.chunks.map(([dt, bytes]) => [round(dt), bytesToJson(bytes)]),
          },
  });
}
