import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { best } from '../../build/likeness.ts';
import { label } from '../../build/values.ts';
import { A2aRun } from './a2a-run.ts';

const FORMAT = 'a2a';

/**
 * Messages between a client and a remote agent over A2A (v1 and v0.3): JSON-RPC messages or their
 * bodies. A request without a task starts a run. The protocol does not include the agent's tools
 * and models.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'A2A (Agent2Agent) messages, tasks and streams, v1 and v0.3',
  unit: 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

const METHOD =
  /^(?:message\/(?:send|stream)|Send(?:Streaming)?Message|(?:Get|Cancel|SubscribeTo)Task|tasks\/(?:get|cancel|resubscribe))$/;

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  if (value.jsonrpc === '2.0') {
    if (typeof value.method === 'string') return METHOD.test(value.method) ? 0.97 : 0;
    if ('error' in value) return 0.2;
    if (bodyKind(value.result) === undefined) return 0;
    return 0.97;
  }
  if (isFields(value.body)) return bodyKind(value.body) === undefined ? 0 : 0.97;
  return bodyKind(value) === undefined ? 0 : 0.95;
}

const isMessage = (value: unknown): boolean =>
  isFields(value) &&
  Array.isArray(value.parts) &&
  typeof value.role === 'string' &&
  ('messageId' in value || value.kind === 'message');
const isTask = (value: unknown): boolean =>
  isFields(value) &&
  isFields(value.status) &&
  typeof value.status.state === 'string' &&
  ('id' in value || 'taskId' in value);

/** The type of a body: from `kind` in v0.3, from the name of its only field in v1. */
function bodyKind(body: unknown): 'message' | 'task' | 'status' | 'artifact' | undefined {
  if (!isFields(body)) return undefined;
  if (isMessage(body.message) || isMessage(body)) return 'message';
  if (isFields(body.statusUpdate) || body.kind === 'status-update') return 'status';
  if (isFields(body.artifactUpdate) || body.kind === 'artifact-update') return 'artifact';
  return isTask(body.task) || isTask(body) ? 'task' : undefined;
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const runs: { record: RawRecord; run: A2aRun }[] = [];
  const byRequest = new Map<string, A2aRun>();
  const byTask = new Map<string, A2aRun>();
  const begin = (record: RawRecord): A2aRun => {
    const run = new A2aRun();
    runs.push({ record, run });
    return run;
  };
  for (const record of records) {
    const { value } = record;
    if (!isFields(value)) continue;
    const isRpc = value.jsonrpc === '2.0';
    let fields: unknown;
    if (isRpc) fields = value.params ?? value.result;
    else if (isFields(value.body)) fields = value.body;
    else fields = value;
    const body = fields as unknown;
    const rpcId = isRpc ? `${typeof value.id} ${label(value.id) ?? ''}` : undefined;
    const isRequest = isRpc
      ? typeof value.method === 'string'
      : value.kind === 'request' || isFromUser(body);
    const kind = bodyKind(body);
    if (isRequest) {
      if (kind !== 'message' || !isFields(body)) continue;
      const message = isFields(body.message) ? body.message : body;
      // A task that asks for more continues with the answer.
      const run = byTask.get(label(message.taskId) ?? '') ?? begin(record);
      run.ask(message);
      if (rpcId !== undefined) byRequest.set(rpcId, run);
      continue;
    }
    const run =
      (rpcId === undefined ? undefined : byRequest.get(rpcId)) ?? runs.at(-1)?.run ?? begin(record);
    if (isFields(value.error)) run.fail(value.error);
    else if (kind !== undefined && isFields(body)) run.answer(kind, innerOf(kind, body));
    if (run.taskId !== undefined && run.isOpen) byTask.set(run.taskId, run);
  }
  return runs.flatMap(({ record, run }) => tryBuild(record, () => run.draft(FORMAT)));
}

const isFromUser = (body: unknown): boolean => {
  const message = isFields(body) && isFields(body.message) ? body.message : body;
  return isFields(message) && (message.role === 'user' || message.role === 'ROLE_USER');
};

const FIELD = {
  message: 'message',
  task: 'task',
  status: 'statusUpdate',
  artifact: 'artifactUpdate',
} as const;

function innerOf(kind: keyof typeof FIELD, body: Fields): Fields {
  const inner = body[FIELD[kind]];
  return isFields(inner) ? inner : body;
}
