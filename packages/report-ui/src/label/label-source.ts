import type { LabelItem, LabelRequest, LabelSaved, LabelState } from '@agentci/results';

export const fetchState = (): Promise<LabelState> => ask('api/labels');

export const fetchItem = (id: string): Promise<LabelItem> =>
  ask(`api/labels/item?id=${encodeURIComponent(id)}`);

/** Resolves when the label is on disk. Rejects if that is uncertain. */
export const saveLabel = (label: LabelRequest): Promise<LabelSaved> =>
  ask('api/labels', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(label),
  });

async function ask<T>(path: string, options: RequestInit = {}): Promise<T> {
  const response = await fetch(path, { cache: 'no-store', ...options });
  const body = (await response.json()) as T & { error?: string };
  if (!response.ok) throw new Error(body.error ?? `HTTP ${response.status}`);
  return body;
}
