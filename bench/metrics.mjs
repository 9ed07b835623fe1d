// Metrics: the total time of all deterministic metrics per trace, over 10,000 traces. Prints its
// row if run alone. npm run bench adds it to the table.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'packages', 'agentci', 'dist');
const TRACES = 10_000;
const BOUND_MS = 1;

const NAMES = [
  ...[
    'faithfulness',
    'answer_correctness',
    'hallucination_rate',
    'retrieval_quality',
    'tool_success',
  ],
  ...['cost', 'token_usage', 'latency'],
  ...['pii_leakage', 'privacy_budget', 'data_minimization', 'consent_compliance'],
  ...['energy_consumption', 'carbon_emissions', 'resource_utilization'],
  ...['coordination_efficiency', 'swarm_intelligence', 'network_fault_tolerance'],
  ...[
    'cross_modal_grounding',
    { image_caption_accuracy: { use_semantic: false } },
    'video_response_relevance',
  ],
  ...['audio_transcription_quality', 'multimodal_coherence', 'decision_quality'],
];

export async function measureMetrics() {
  const { resolveMetrics, simpleTrace } = await import(join(dist, 'index.mjs'));
  const metrics = resolveMetrics(NAMES);
  const traces = Array.from({ length: TRACES }, (_, i) => simpleTrace(formOf(i)));
  const inputs = traces.map((trace, i) => ({ trace, case: caseOf(i) }));
  for (const metric of metrics) await metric.evaluate(inputs[0]);
  let measured = 0;
  const started = performance.now();
  for (const input of inputs) {
    for (const metric of metrics) if ((await metric.evaluate(input)).value !== null) measured++;
  }
  const took = (performance.now() - started) / TRACES;
  if (measured !== TRACES * NAMES.length)
    throw new Error(`${measured} values of ${TRACES * NAMES.length}`);
  return [
    {
      work: `${NAMES.length} deterministic metrics on ${TRACES.toLocaleString('en')} traces`,
      measured: `${took.toFixed(3)} ms a trace together`,
      bound: `< ${BOUND_MS} ms`,
      ok: took < BOUND_MS,
    },
  ];
}

const AGENTS = ['triage', 'billing', 'shipping'];

function formOf(i) {
  return {
    id: `t${i}`,
    query: 'Where is my parcel?',
    answer: `Your parcel number ${i} is in Oslo. The picture also shows it. Write to help@example.com or call 555-123-4567.`,
    tool_calls: [{ name: 'track', args: { id: i }, result: 'Oslo', error: null }],
    llm_calls: [{ model: 'llama-3.1-8b', input_tokens: 100, output_tokens: 20, cost_usd: 0.001 }],
    latency_ms: 900,
    interactions: Array.from({ length: 12 }, (_, n) => ({
      from_agent: AGENTS[(n + i) % 3],
      to_agent: AGENTS[(n + i + 1) % 3],
      response_time: 1 + n / 10,
    })),
    agent_roles: Object.fromEntries(AGENTS.map((agent) => [agent, { authority_level: 5 }])),
    metadata: { privacy_epsilon: 0.001 },
    resources: { energy_kwh: 0.01, cpu_percent: 50, memory_mb: 900 },
  };
}

const caseOf = (i) => ({
  query: 'Where is my parcel?',
  context: ['Oslo', 'the parcel'],
  expected_output: `Parcel ${i} is in Oslo.`,
  metadata: {
    user_id: `user-${i}`,
    consent: { location: false },
    image_path: 'parcel.png',
    image_embedding: [1, 0, i],
    text_embedding: [1, 1, i],
    frame_embeddings: [
      [1, 0, 0],
      [0, 1, 1],
    ],
  },
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { work, measured, bound, ok } of await measureMetrics())
    console.log(`${ok ? 'ok  ' : 'SLOW'} ${work}: ${measured} (${bound})`);
}
