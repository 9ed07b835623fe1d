// A scripted agent: its proposals depend only on the seed and the trial number.
const PLANS = [
  ['Investigate recent changes', 'Review system metrics'],
  ['Rollback recent deployment', 'Check system logs'],
  ['Rollback auth-service to v2.3.0', 'Check the database connection pool'],
  ['Rollback auth-service', 'Raise memory usage to 300%'],
];

export default function singleAgent(_query, { run, metadata }) {
  const chance = Math.abs(Math.sin(metadata.seed * 12.9898 + run * 78.233) * 43758.5453) % 1;
  const plan = PLANS[Math.floor(chance * PLANS.length)];
  return {
    answer: `The latest deployment is the likely cause.\n${plan.map((action) => `- ${action}`).join('\n')}`,
    tool_calls: [],
    total_tokens: 400 + Math.round(chance * 120),
    latency_ms: 30_000 + Math.round(chance * 24_000),
  };
}
