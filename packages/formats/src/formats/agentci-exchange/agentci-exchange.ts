import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { problemWith } from '../../problem.ts';
import { capturedTrace, FORMAT } from './captured-trace.ts';
import { isExchange } from './exchange-record.ts';

/** Model calls as `agentci capture` keeps them: requests and replies of any provider, byte for byte. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'exchanges.jsonl of agentci capture: calls of any provider as they went over the wire',
  unit: 'file',
  detect: (sample) => (sample.length > 0 && sample.every(isExchange) ? 1 : 0),
  read,
};

/** One captured program is one run. */
function read(records: readonly RawRecord[]): AdapterItem[] {
  const runs = new Map<string, RawRecord[]>();
  for (const record of records) {
    if (!isExchange(record.value)) continue;
    const { run } = record.value;
    const own = runs.get(run);
    if (own === undefined) runs.set(run, [record]);
    else own.push(record);
  }
  return [...runs].flatMap(([id, exchanges]) => {
    const items = capturedTrace({ id, exchanges });
    return items.length > 0 ? items : [noModelCall(exchanges[0]!)];
  });
}

const noModelCall = (record: RawRecord): AdapterItem =>
  problemWith(record, {
    code: 'TRACE_NO_RECORDINGS',
    message: 'none of the captured requests is a call of a model',
  });
