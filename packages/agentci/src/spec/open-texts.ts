/** Texts that take the place of files while a spec is read, and the files that were read, by real path. */
export interface OpenTexts {
  readonly texts: ReadonlyMap<string, string>;
  readonly read: Set<string>;
}

// A spec is read without waiting in between, so that one place can say what applies to this reading.
let current: OpenTexts | undefined;

/** Reads with the texts of an editor in place of the files they will be saved to. */
export function readingWith<T>(open: OpenTexts, work: () => T): T {
  const before = current;
  current = open;
  try {
    return work();
  } finally {
    current = before;
  }
}

/** The text that an editor has for a file; notes that the file was read. */
export function openText(path: string): string | undefined {
  current?.read.add(path);
  return current?.texts.get(path);
}

/** A file that is not saved yet, but open. */
export const isOpen = (path: string): boolean => current?.texts.has(path) === true;
