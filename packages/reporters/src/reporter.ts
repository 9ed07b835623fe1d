import type { PageEvidence, RunComparison, RunResult } from '@agentci/results';

/** What a reporter knows of its environment. Reporters never touch `process`. */
export interface ReportContext {
  readonly color: boolean;
  readonly columns: number;
  /** The exact command that reruns only the failures. */
  readonly rerunCommand?: string;
  /** The command of the run without its query selection. */
  readonly command?: string;
  /** `$GITHUB_STEP_SUMMARY` is set, for overflow. */
  readonly hasStepSummary: boolean;
  readonly quiet: boolean;
  /** A file's name for outsiders, such as relative to the repository. */
  readonly publicPath: (file: string) => string;
  /** URL of a line in a file, if the repository has one. */
  readonly lineUrl?: (file: string, line: number) => string | undefined;
  /** URL of the CI job with its artifacts. */
  readonly jobUrl?: string;
  /** One-line summary of a check by id, because reporters do not know the checks. */
  readonly checkSummary: (id: string) => string | undefined;
  readonly version: string;
  /** Traces and baselines by query. `notes` lists omissions. */
  readonly evidence?: {
    readonly byQuery: ReadonlyMap<string, PageEvidence>;
    readonly notes: readonly string[];
  };
  /** For notifications. */
  readonly notify?: NotifyContext;
  /** The run to compare with. */
  readonly before?: {
    readonly run: RunResult;
    readonly comparison: RunComparison;
    /** The called tools by query in the previous run, if its recordings are available. */
    readonly tools?: ReadonlyMap<string, string[] | null>;
  };
}

/** Notification data beyond the results. */
export interface NotifyContext {
  readonly branch?: string;
  readonly commit?: string;
  /** URL of the CI job. */
  readonly url?: string;
  /** The previous verdict in one word. */
  readonly previous?: string;
  /** For a partial run: a text that says so. */
  readonly part?: string;
  /** JSON with `{{names}}` in its texts. */
  readonly template?: unknown;
}

/**
 * A rendered report: the document, whole or in pieces (a large one is never in memory at once), and
 * text for the step summary. A piece is text, or bytes that are valid until the next piece.
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

/** Renders a finished run as one document. Pure: the same run gives the same bytes. */
export interface Reporter {
  readonly name: string;
  readonly summary: string;
  /** File extensions that select this reporter for `-o FILE`. */
  readonly extensions: readonly string[];
  /** Machines read its stdout: exactly one document, nothing else. */
  readonly machineReadable: boolean;
  /** It shows each run in detail, so it needs the traces. */
  readonly wantsEvidence?: true;
  readonly render: (run: RunResult, context: ReportContext) => Report;
}
