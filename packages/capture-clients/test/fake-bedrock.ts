import { Buffer } from 'node:buffer';
import { crc32 } from './crc32.ts';

interface Said {
  readonly text?: string;
  readonly call?: { readonly id: string; readonly name: string; readonly input: unknown };
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
  };
}

/** The body of a Converse reply. */
export const converseReply = ({ text, call, usage }: Said): string =>
  JSON.stringify({
    output: {
      message: {
        role: 'assistant',
        content: [
          call === undefined
            ? { text }
            : { toolUse: { toolUseId: call.id, name: call.name, input: call.input } },
        ],
      },
    },
    stopReason: call === undefined ? 'end_turn' : 'tool_use',
    usage,
    metrics: { latencyMs: 1 },
  });

/** The frames of a ConverseStream reply. */
export function converseFrames({ text, call, usage }: Said): Buffer[] {
  const index = { contentBlockIndex: 0 };
  const start =
    call === undefined
      ? []
      : [
          frame('contentBlockStart', {
            ...index,
            start: { toolUse: { toolUseId: call.id, name: call.name } },
          }),
        ];
  const said =
    call === undefined
      ? (text ?? '').match(/.{1,20}/g)!.map((piece) => ({ text: piece }))
      : [{ toolUse: { input: JSON.stringify(call.input) } }];
  return [
    frame('messageStart', { role: 'assistant' }),
    ...start,
    ...said.map((delta) => frame('contentBlockDelta', { ...index, delta })),
    frame('contentBlockStop', index),
    frame('messageStop', { stopReason: call === undefined ? 'end_turn' : 'tool_use' }),
    frame('metadata', { usage, metrics: { latencyMs: 1 } }),
  ];
}

/** One message of AWS's event stream: lengths, headers, body, checksums. */
function frame(type: string, body: unknown): Buffer {
  const header = (name: string, value: string): Buffer =>
    Buffer.concat([
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, value.length >> 8, value.length & 255]),
      Buffer.from(value),
    ]);
  const headers = Buffer.concat([
    header(':event-type', type),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ]);
  const payload = Buffer.from(JSON.stringify(body));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length + payload.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const whole = Buffer.concat([prelude, headers, payload]);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(whole), 0);
  return Buffer.concat([whole, end]);
}
