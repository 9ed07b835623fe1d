import { describeSpec } from '@agentci/agentci/vitest';

// Test runners divide files among machines, so each of four files takes a quarter of the spec.
describeSpec(new URL('./agentci_spec.yaml', import.meta.url), { shard: '2/4', concurrent: true });
