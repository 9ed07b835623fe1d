import type { Captured, CaptureLevel } from './model.ts';

/** The map of a trace that holds nothing yet: adapters raise what they found. */
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

/** How much of a list had the field. Of nothing, nothing is missing: an empty list is fully captured. */
export function captureLevel(present: number, total: number): CaptureLevel {
  if (present >= total) return 'full';
  return present === 0 ? 'none' : 'partial';
}
