import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { most } from '../../build/likeness.ts';
import { fields, label } from '../../build/values.ts';
import { AcpRun } from './acp-run.ts';

const FORMAT = 'acp';

/**
 * The Agent Client Protocol between editors and coding agents. Every prompt of a session is one
 * run.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Agent Client Protocol (ACP) messages between an editor and a coding agent',
  unit: 'file',
  detect: (sample) => most(sample, likeness),
  allowsStrays: true,
  read,
};

/** A message, alone or in the recorder's envelope. */
const messageOf = (value: unknown): Fields | undefined => {
  const inner = isFields(value) && isFields(value.message) ? value.message : value;
  return isFields(inner) && inner.jsonrpc === '2.0' ? inner : undefined;
};

function likeness(value: unknown): number {
  const message = messageOf(value);
  if (message === undefined) return 0;
  const { method } = message;
  if (typeof method === 'string') {
    if (/^(?:session\/|_?fs\/|terminal\/)/.test(method)) return 0.97;
    if (/^(?:initialize|authenticate)$/.test(method)) return 0.3;
    return 0;
  }
  return 'result' in message || 'error' in message ? 0.3 : 0;
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const runs: { record: RawRecord; run: AcpRun }[] = [];
  const bySession = new Map<string, AcpRun>();
  /** Requests that wait for their response, by typed id. */
  const requests = new Map<string, (message: Fields) => void>();
  /** The prompt may be missing, but the actions were recorded. */
  const runOf = (record: RawRecord, session: string): AcpRun => {
    const known = bySession.get(session);
    if (known !== undefined) return known;
    const run = new AcpRun(session);
    runs.push({ record, run });
    bySession.set(session, run);
    return run;
  };
  for (const record of records) {
    const message = messageOf(record.value);
    if (message === undefined) continue;
    const params = fields(message.params);
    const session = label(params.sessionId) ?? '';
    const id = `${typeof message.id} ${label(message.id) ?? ''}`;
    switch (message.method) {
      case 'session/prompt': {
        const run = new AcpRun(session);
        runs.push({ record, run });
        bySession.set(session, run);
        run.ask(params.prompt);
        requests.set(id, (response) => run.end(response));
        break;
      }
      case 'session/update':
        runOf(record, session).update(fields(params.update));
        break;
      case 'session/request_permission': {
        const run = runOf(record, session);
        run.want(params);
        requests.set(id, (response) => run.permit(params, fields(response.result)));
        break;
      }
      case 'terminal/create':
        runOf(record, session).act('execute', params);
        break;
      case 'fs/write_text_file':
        runOf(record, session).act('edit', params);
        break;
      case 'fs/read_text_file':
        runOf(record, session).act('read', params);
        break;
      default:
        if (message.method === undefined) requests.get(id)?.(message);
    }
  }
  return runs.flatMap(({ record, run }) => tryBuild(record, () => run.draft(FORMAT)));
}
