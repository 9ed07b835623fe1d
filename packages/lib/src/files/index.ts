export { writeFileAtomic } from './atomic-write.ts';
export { LineFile, openAtLastLine } from './line-file.ts';
export { makeFolder } from './make-folder.ts';
export { appendFile, copyFile, openFile, renameFile, writeFile } from './open-file.ts';
export { readLines } from './read-lines.ts';
export { refuseLinks, refuseLinksIn } from './refuse-links.ts';
export { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.ts';
