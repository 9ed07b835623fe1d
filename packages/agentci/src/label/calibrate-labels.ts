import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RUBRIC_KEYS } from '@agentci/checks';
import {
  asBlind,
  calibrate,
  countLines,
  DEFAULT_ENSEMBLE,
  DEFAULT_MODEL,
  DEFAULT_THRESHOLD,
  isFailure,
  isTemplate,
  type Judge,
  type JudgeConfig,
  type Judgement,
  judgeAnswer,
  type Label,
  type LabelledScore,
  type LabelProblem,
  type PassingLine,
  parseLabels,
  passingLine,
  RUBRICS,
  raterPairs,
  resolveRubric,
  SpecLines,
  settleLabels,
  type WrittenRubric,
} from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminal } from '@agentci/lib/text';
import { runPool } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { itemsOf } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { renderCalibration } from './judge-report.ts';
import { readLabelFolder } from './label-files.ts';

/** Number of questions prepared concurrently. The judge limits its own calls. */
const WORKERS = 16;
const MAX_LABEL_BYTES = 64 * 1024 * 1024;

export interface CalibrateFlags {
  readonly labels?: string;
  readonly template?: string;
  readonly rule?: string;
  readonly threshold?: number;
  readonly minKappa?: number;
  readonly seed: number;
  readonly json?: boolean;
}

/**
 * Compares the gating judge (an ensemble if the spec has one) with people, each label at the
 * passing score of its rubric.
 */
export async function calibrateLabels({
  judge,
  config,
  suite,
  flags,
  io,
}: {
  judge: Judge;
  config: JudgeConfig;
  suite: Suite | undefined;
  flags: CalibrateFlags;
  io: Io;
}): Promise<number> {
  const { labels, raters } = agreedLabels(readLabels(flags, io), flags.seed);
  const spec = new SpecLines(rubricsOf(suite));
  const useEnsemble = judge.ensemble?.enabled ?? false;
  const judged = await judgeLabels(labels, { judge, flags, spec, useEnsemble });
  const rows = judged.flatMap(({ label: { id, human }, line, judgement }) => {
    const score = meanScore(judgement);
    if (score === undefined) return [];
    const vetoed = judgement.isEnsemble && judgement.majority === 'fail';
    return [{ id, human, score, min_score: line.min_score, vetoed } satisfies LabelledScore];
  });
  const errors = judged.flatMap(({ label: { id }, judgement }) =>
    judgement.passed === null ? [{ id, message: failureOf(judgement) }] : [],
  );
  const result = calibrate(rows, {
    threshold: flags.threshold ?? DEFAULT_THRESHOLD,
    seed: flags.seed,
  });
  const lines = judged.map(({ line }) => line);
  const verdict = {
    min_kappa: flags.minKappa ?? null,
    passing_scores: countLines(lines),
    measured: {
      ensemble: useEnsemble,
      models: useEnsemble ? ensembleOf(config) : [config.model ?? DEFAULT_MODEL],
    },
    errors,
    raters,
    judge: judge.usage?.(),
  };
  printFindings(
    io,
    flags,
    { schema: 'agentci.judge-calibration/1', ...result, ...verdict },
    renderCalibration(result, { ...verdict, lines }),
  );
  if (errors.length > 0 || rows.length === 0) return 2;
  if (flags.minKappa === undefined) return 0;
  if (result.kappa === null) return 2;
  return result.kappa < flags.minKappa ? 1 : 0;
}

/** One label per answer, with the agreement of the raters. */
function agreedLabels(given: readonly Label[], seed: number) {
  const blind = given.map(asBlind);
  const { settled, disputed: open } = settleLabels(blind);
  // Resolved disagreements count with their resolution.
  const agreed = settleLabels(given).settled.filter(({ id }) => open.includes(id));
  const disputed = open.filter((id) => !agreed.some((label) => label.id === id));
  const revised = given.filter((label) => label.revised).length;
  const raters = { pairs: raterPairs(blind, seed), disputed, revised };
  return { labels: [...settled, ...agreed], raters };
}

interface JudgedLabel {
  readonly label: Label;
  readonly line: PassingLine;
  readonly judgement: Judgement;
}

async function judgeLabels(
  labels: readonly Label[],
  {
    judge,
    flags,
    spec,
    useEnsemble,
  }: {
    readonly judge: Judge;
    readonly flags: CalibrateFlags;
    readonly spec: SpecLines;
    readonly useEnsemble: boolean;
  },
): Promise<readonly JudgedLabel[]> {
  const shared = sharedRubric(flags);
  const judged: JudgedLabel[] = [];
  await runPool(labels, { workers: WORKERS }, async (label) => {
    const { query, answer, context, isGrounded, isConversation } = label;
    const written = rubricOf(label, shared);
    const resolved = resolveRubric(written);
    const rubric = { ...resolved, needsContext: isGrounded || resolved.needsContext };
    const line = passingLine(written, { option: flags.threshold, spec });
    const question = {
      rubric,
      query,
      answer,
      context,
      isConversation: isConversation || undefined,
    };
    judged.push({ label, line, judgement: await judgeAnswer({ judge, question, useEnsemble }) });
  });
  return judged;
}

const ensembleOf = ({ ensemble }: JudgeConfig): readonly string[] =>
  ensemble?.models ?? DEFAULT_ENSEMBLE;

const rubricsOf = (suite: Suite | undefined): WrittenRubric[] =>
  (suite?.queries ?? []).flatMap((query) =>
    [query, ...(query.turns ?? [])].flatMap((each) =>
      RUBRIC_KEYS.flatMap((key) => itemsOf(each, key).map(({ written }) => written)),
    ),
  );

/** Exact, because `avg_score` is rounded and the decision does not use it. */
function meanScore({ passed, replies }: Judgement): number | undefined {
  if (passed === null) return undefined;
  const scores = replies.flatMap((reply) => (isFailure(reply) ? [] : [reply.score]));
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

function failureOf({ isEnsemble, replies }: Judgement): string {
  const failures = [
    ...new Set(replies.flatMap((reply) => (isFailure(reply) ? [reply.message] : []))),
  ];
  const answered = replies.filter((reply) => !isFailure(reply)).length;
  const who = isEnsemble
    ? `${answered} of ${replies.length} judges answered, more than half must: `
    : '';
  return `${who}${failures.join('; ')}`;
}

function readLabels(flags: CalibrateFlags, io: Io): readonly Label[] {
  if (flags.labels === undefined) {
    throw new UserError('OPTION_INVALID', 'calibrate needs --labels FILE', {
      hint: 'One JSON object a line: {"query": "…", "answer": "…", "label": "pass"}',
    });
  }
  const { labels: source } = flags;
  const path = resolve(io.cwd, source);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() && !found?.isDirectory())
    throw new UserError('FILE_MISSING', `--labels: no file or folder "${source}"`);
  if (found.size > MAX_LABEL_BYTES)
    throw new UserError('FILE_TOO_LARGE', `${source} is larger than 64 MB`);
  const { labels, problems } = found.isDirectory() ? readLabelFolder(path) : readLabelFile(path);
  const torn = problems.filter((problem) => problem.isTorn);
  for (const { file, line } of torn)
    io.stderr.write(
      `agentci: ${escapeTerminal(file === undefined ? source : join(source, file))}:${line}: the last line was cut off while it was written and is not counted\n`,
    );
  const broken = problems.filter((problem) => !problem.isTorn);
  const diagnostics = broken.map(({ line, message, file }) => ({
    severity: 'error' as const,
    code: 'DATA_INVALID',
    message,
    file: file === undefined ? source : join(source, file),
    line,
    column: 1,
  }));
  if (diagnostics.length > 0)
    throw new UserError('DATA_INVALID', `${source} cannot be used`, { diagnostics });
  if (labels.length === 0) throw new UserError('NOTHING_FOUND', `no labels found in ${source}`);
  return labels;
}

function readLabelFile(path: string): {
  labels: Label[];
  problems: (LabelProblem & { file?: string })[];
} {
  return parseLabels(readFileSync(path, 'utf8'));
}

function sharedRubric({ template, rule }: CalibrateFlags): WrittenRubric | undefined {
  if (template !== undefined && !isTemplate(template)) {
    throw new UserError('OPTION_INVALID', `unknown rubric template "${template}"`, {
      hint: `There are ${Object.keys(RUBRICS).join(', ')}.`,
    });
  }
  return template === undefined && rule === undefined ? undefined : { template, rule };
}

function rubricOf(label: Label, shared: WrittenRubric | undefined): WrittenRubric {
  const rubric = label.rubric ?? shared;
  if (rubric === undefined) {
    throw new UserError('OPTION_INVALID', `label ${label.id} has no rubric`, {
      hint: 'Pass --template or --rule, or write "rule" or "template" into the label.',
    });
  }
  if (rubric.template !== undefined && !isTemplate(rubric.template))
    throw new UserError(
      'OPTION_INVALID',
      `the label ${label.id} names the unknown rubric template "${rubric.template}"`,
    );
  return rubric;
}

/** Prints a command's findings as JSON or as text. */
export function printFindings(
  io: Io,
  flags: { readonly json?: boolean },
  data: object,
  text: string,
): void {
  io.stdout.write(flags.json ? `${JSON.stringify(data, null, 2)}\n` : `${escapeTerminal(text)}\n`);
}
