type Value = string | number | boolean | readonly string[];

/** A span in OTLP JSON with the fields that tests need. Times are milliseconds. */
export interface SmallSpan {
  readonly id: string;
  readonly parent?: string;
  readonly trace?: string;
  readonly name?: string;
  readonly at?: readonly [number, number];
  readonly attributes?: Readonly<Record<string, Value>>;
  readonly events?: readonly {
    readonly name: string;
    readonly attributes?: Readonly<Record<string, Value>>;
  }[];
  readonly failed?: string;
}

const START = 1_767_603_600_000n;

export const nanos = (ms: number): string =>
  String(START * 1_000_000n + BigInt(Math.round(ms * 1000)) * 1000n);
export const hexId = (id: string, digits: number): string =>
  Buffer.from(id).toString('hex').padStart(digits, '0');

const anyValue = (value: Value): object => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return { intValue: String(value) };
  return { arrayValue: { values: value.map((item) => ({ stringValue: item })) } };
};

export const attributeList = (attributes: Readonly<Record<string, Value>>): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));

const spanOf = ({
  id,
  parent,
  trace = 'run',
  name = id,
  at,
  attributes = {},
  events = [],
  failed,
}: SmallSpan) => ({
  traceId: hexId(trace, 32),
  spanId: hexId(id, 16),
  ...(parent === undefined ? {} : { parentSpanId: hexId(parent, 16) }),
  name,
  kind: 1,
  startTimeUnixNano: nanos(at?.[0] ?? 0),
  endTimeUnixNano: nanos(at?.[1] ?? 1),
  attributes: attributeList(attributes),
  events: events.map((event) => ({
    name: event.name,
    timeUnixNano: nanos(at?.[0] ?? 0),
    attributes: attributeList(event.attributes ?? {}),
  })),
  status: failed === undefined ? {} : { code: 2, message: failed },
});

/** An OTLP request with these spans, in this order. */
export const otlp = (spans: readonly SmallSpan[], scope = 'test') => ({
  resourceSpans: [
    {
      resource: { attributes: [] },
      scopeSpans: [{ scope: { name: scope }, spans: spans.map(spanOf) }],
    },
  ],
});

/** A request of log records, one event per message, as in conventions 1.28 to 1.36. */
export const otlpLogs = (
  logs: readonly { span: string; trace?: string; name: string; body: object; at: number }[],
) => ({
  resourceLogs: [
    {
      scopeLogs: [
        {
          scope: { name: 'test' },
          logRecords: logs.map(({ span, trace = 'run', name, body, at }) => ({
            timeUnixNano: nanos(at),
            eventName: name,
            traceId: hexId(trace, 32),
            spanId: hexId(span, 16),
            body: { stringValue: JSON.stringify(body) },
          })),
        },
      ],
    },
  ],
});
