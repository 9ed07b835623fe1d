export { compileGlob, type GlobMatcher, isGlob } from './glob.ts';
export { compileRegex, matchesEverything, type Regex, RegexTimeout } from './regex.ts';
export { posixSet } from './regex-posix.ts';
export { parseRegex, type RegexElement } from './regex-syntax.ts';
