import { describeSpec } from '@agentci/agentci/vitest';

// The spec of another agent, from `npm run demo`, with its baselines and its stored verdicts.
describeSpec(new URL('../rag/agentci_spec.yaml', import.meta.url), {
  tags: ['story'],
  judge: 'recorded',
});
