export { writeFileAtomic } from './atomic-write.ts';
export { LineFile, openAtLastLine } from './line-file.ts';
export { makeFolder } from './make-folder.ts';
export { readLines } from './read-lines.ts';
export { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.ts';
