import { readdirSync, readFileSync } from 'node:fs';
import { readAll } from '@agentci/testing/read-all';
import { toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

/** Bytes from a collector; `test/conformance` describes their content. */
const folder = new URL('../../../../testing/recordings/otlp-protobuf/', import.meta.url);
const recordings = readdirSync(folder).map((name) => ({
  name,
  bytes: readFileSync(new URL(name, folder)),
}));

test.each(recordings)('$name is read as runs with calls', async ({ bytes }) => {
  const { traces, problems } = await readAll(bytes);
  expect(problems).toEqual([]);
  expect(traces.flatMap(toolNames).length).toBeGreaterThan(0);
});

test.each(recordings)(
  '$name cut short is a problem or known in part, never a crash',
  async ({ bytes }) => {
    for (const share of [0.2, 0.5, 0.9]) {
      const whole = (await readAll(bytes)).traces.flatMap(toolNames);
      const { traces, problems } = await readAll(
        bytes.subarray(0, Math.floor(bytes.length * share)),
      );
      const seen = traces.flatMap(toolNames);
      const isToldPartly =
        problems.length > 0 || traces.some(({ captured }) => captured.toolCalls !== 'full');
      expect(seen.length === whole.length || isToldPartly || seen.length === 0).toBe(true);
    }
  },
);
