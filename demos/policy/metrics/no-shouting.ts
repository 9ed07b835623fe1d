// A custom metric: (trace, config) → {status, violations}.
interface Step {
  kind: string;
  name?: string;
  args?: Record<string, unknown>;
}

export default function noShouting(trace: { steps: Step[] }, config: { argument: string }) {
  const violations = trace.steps
    .filter((step) => step.kind === 'tool')
    .flatMap((step, call) => {
      const value = step.args?.[config.argument];
      const shouts = typeof value === 'string' && value.length > 3 && value === value.toUpperCase();
      return shouts
        ? [
            {
              tool: step.name,
              argument: config.argument,
              value,
              constraint: 'not in capitals',
              policy_line: null,
              call,
            },
          ]
        : [];
    });
  return { status: violations.length === 0 ? 'pass' : 'fail', violations };
}
