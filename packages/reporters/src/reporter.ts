import type { PageEvidence, RunComparison, RunResult } from '@agentci/results';

/** What a reporter may know of where it writes. Reporters never touch `process`. */
export interface ReportContext {
  readonly color: boolean;
  readonly columns: number;
  /** The exact command that runs only the failures again. */
  readonly rerunCommand?: string;
  /** The command that ran it, without a choice of queries. */
  readonly command?: string;
  /** `$GITHUB_STEP_SUMMARY` is set: overflow goes there. */
  readonly hasStepSummary: boolean;
  readonly quiet: boolean;
  /** How a file is named to someone outside this folder, e.g. from the root of the repository. */
  readonly publicPath: (file: string) => string;
  /** The page of a line of a file, where the repository has pages. */
  readonly lineUrl?: (file: string, line: number) => string | undefined;
  /** The page of the CI job, where its files are kept. */
  readonly jobUrl?: string;
  /** One line on what a check asserts, by its id; reporters do not know the checks. */
  readonly checkSummary: (id: string) => string | undefined;
  readonly version: string;
  /** Traces and baselines by query, for a reporter that wants them; `notes` says what was left out. */
  readonly evidence?: {
    readonly byQuery: ReadonlyMap<string, PageEvidence>;
    readonly notes: readonly string[];
  };
  /** For messages that are sent. */
  readonly notify?: NotifyContext;
  /** The run to compare with. */
  readonly before?: {
    readonly run: RunResult;
    readonly comparison: RunComparison;
    /** The tools each query called in the run before, where its recordings are available. */
    readonly tools?: ReadonlyMap<string, string[] | null>;
  };
}

/** What a message can say beside the results. */
export interface NotifyContext {
  readonly branch?: string;
  readonly commit?: string;
  /** Of the CI job. */
  readonly url?: string;
  /** The verdict of the previous run, in a word. */
  readonly previous?: string;
  /** Of a run of some queries: that it is one, in words. */
  readonly part?: string;
  /** JSON with `{{names}}` in its texts. */
  readonly template?: unknown;
}

/**
 * What a reporter gives back: the document, whole or in pieces (a large one is never held at once), and text for the step
 * summary. A piece is a text, or the bytes of one that is on disk already; those are good until the next piece is taken.
 */
export interface Report {
  readonly text: string | Generator<string | Uint8Array>;
  readonly stepSummary?: string;
}

const decoder = new TextDecoder();

/** The document as texts. */
export function* reportPieces({ text }: Report): Generator<string> {
  if (typeof text === 'string') yield text;
  else for (const piece of text) yield typeof piece === 'string' ? piece : decoder.decode(piece);
}

/** The document as one string. */
export const reportText = (report: Report): string => [...reportPieces(report)].join('');

/** Turns a finished run into one document. Pure: the same run gives the same bytes. */
export interface Reporter {
  readonly name: string;
  readonly summary: string;
  /** File endings that choose this reporter for `-o FILE`. */
  readonly extensions: readonly string[];
  /** Its stdout is read by a machine: exactly one document, nothing else beside it. */
  readonly machineReadable: boolean;
  /** It shows what happened in each run, so that traces are read for it. */
  readonly wantsEvidence?: true;
  readonly render: (run: RunResult, context: ReportContext) => Report;
}
