export { parseCsv } from './csv.ts';
export { readCsv } from './csv-reader.ts';
