import { describe, expect, it } from 'vitest';
import { collectorOf } from './collector.ts';
import { otlpEnvironment } from './environment.ts';

const BASE = 'http://127.0.0.1:4000/r/token';
const environment = (env: Record<string, string>, more = {}) => {
  const collectors = (['traces', 'logs', 'metrics'] as const).flatMap(
    (signal) => collectorOf(signal, env) ?? [],
  );
  return otlpEnvironment({ base: BASE, token: 'token', env, collectors, ...more });
};

describe('environment', () => {
  it('names the receiver in every spelling, those that win over others among them', () => {
    expect(environment({}).set).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${BASE}/otlp`,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${BASE}/otlp/v1/traces`,
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${BASE}/otlp/v1/logs`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_HEADERS: 'agentci-run=token',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    });
  });

  it.each([
    ['a switch that turns the SDK off', { OTEL_SDK_DISABLED: 'true' }, 'OTEL_SDK_DISABLED'],
    [
      'headers of one signal, which would replace ours',
      { OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=b' },
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    ],
    [
      'a certificate',
      { OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem' },
      'OTEL_EXPORTER_OTLP_CERTIFICATE',
    ],
  ])('takes away %s', (_, env, name) => {
    expect(environment(env).unset).toContain(name);
  });

  it.each([
    ['', undefined, 'otlp'],
    ['none', 'none', 'otlp'],
    ['the user’s own', 'console', 'console,otlp'],
    ['otlp itself', 'otlp', 'otlp'],
  ])('exporters: %s', (_, given, expected) => {
    expect(
      environment(given === undefined ? {} : { OTEL_TRACES_EXPORTER: given }).set
        .OTEL_TRACES_EXPORTER,
    ).toBe(expected);
  });

  it('adds the run to the resource attributes of the user', () => {
    const { set } = environment({ OTEL_RESOURCE_ATTRIBUTES: 'service.name=well' }, { runId: 'r1' });
    expect(set.OTEL_RESOURCE_ATTRIBUTES).toBe('service.name=well,agentci.run_id=r1');
  });

  it('does not make a collector receive messages that it did not receive before', () => {
    const name = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
    expect(environment({}).set).toHaveProperty(name, 'true');
    expect(environment({ [name]: 'false' }).set).not.toHaveProperty(name);
    expect(
      environment({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com' }).set,
    ).not.toHaveProperty(name);
  });

  it('leaves metrics with the collector they went to, with its headers', () => {
    const { set } = environment({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://m.example.com/v1/metrics',
      OTEL_EXPORTER_OTLP_HEADERS: 'k=v',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    expect(set).toMatchObject({
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'k=v',
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
    });
    expect(set).not.toHaveProperty('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT');
    expect(set).not.toHaveProperty('OTEL_METRICS_EXPORTER');
  });
});

describe('collector', () => {
  it.each([
    [
      'a general address gets the path of the signal',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example.com/x/' },
      'https://c.example.com/x/v1/traces',
      false,
    ],
    [
      'an address of the signal is whole',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c.example.com/t' },
      'https://c.example.com/t',
      false,
    ],
    [
      'gRPC has the path of the service',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'c:4317' },
      'http://c:4317/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      true,
    ],
  ])('%s', (_, env, href, isGrpc) => {
    expect(collectorOf('traces', env)).toMatchObject({ url: new URL(href), isGrpc });
  });

  it('none, or one that cannot be read, is none', () => {
    expect([
      collectorOf('traces', {}),
      collectorOf('traces', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://[' }),
    ]).toEqual([undefined, undefined]);
  });
});
