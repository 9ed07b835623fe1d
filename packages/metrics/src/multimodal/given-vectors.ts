/** An embedding from metadata, if it is a list of numbers. */
export function vectorOf(value: unknown): number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.every((item) => typeof item === 'number' && Number.isFinite(item))
    ? (value as number[])
    : undefined;
}

export function vectorsOf(value: unknown): number[][] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const vectors = value.map(vectorOf);
  return vectors.every((vector) => vector !== undefined) ? vectors : undefined;
}

export const pathOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;
