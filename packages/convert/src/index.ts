export { type Conversion, convertSuite, SPEC_FILE } from './convert.ts';
export { type LayerLayout, layOut, type Owned } from './layout.ts';
export { Literal } from './literal.ts';
export type { BlockValue, ConvertedCase, Finding, OverallTest } from './model.ts';
export { exactValue, nodeOf } from './places.ts';
export { readSuites } from './read-suites.ts';
export { SOURCES } from './registry.ts';
export { type ConvertReport, groupLeft, isWhole, summaryLines } from './report.ts';
export { isAssaySuite, readAssay } from './sources/assay/assay.ts';
