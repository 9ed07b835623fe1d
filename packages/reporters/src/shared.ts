/** Code shared with the report page. The page is built first, so nothing here may load a report. */
export { type AnswerMark, answerMarks, foundTerms, termsOf } from './answer-marks.ts';
export { cellTable } from './cell-tables.ts';
export { chanceText, verdictText } from './diff/words.ts';
export { exampleLine, groupCount, shownGroups } from './failure-lines.ts';
export { decidingChecks, reasonOf } from './html/deciding-checks.ts';
export { comparedQuery } from './html/page-before.ts';
export { passHatTable } from './pass-hat-k.ts';
