import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-latency-ms.ts';

describeCheck(check, {
  sample: {
    params: 10,
    keeps: { answer: '', latency_ms: 10 },
    breaks: { answer: '', latency_ms: 11 },
  },
  refuses: [-1, '10'],
});
