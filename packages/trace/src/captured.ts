import type { Captured, CaptureLevel } from './model.ts';

/** The initial map of a trace. Readers raise the levels they find evidence for. */
export const nothingCaptured = (): Captured => ({
  toolCalls: 'none',
  toolArgs: 'none',
  toolResults: 'none',
  toolErrors: 'none',
  llmCalls: 'none',
  prompts: 'none',
  usage: 'none',
  cost: 'none',
  timing: 'none',
  agents: 'none',
  handoffs: 'none',
  messages: 'none',
  retrieval: 'none',
  final: 'none',
});

/** Share of a list that has the field. An empty list is fully captured. */
export function captureLevel(present: number, total: number): CaptureLevel {
  if (present >= total) return 'full';
  return present === 0 ? 'none' : 'partial';
}
