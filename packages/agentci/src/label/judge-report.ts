import type { Agreement, AuditReport, Calibration, JudgeUsage, RaterPair } from '@agentci/judge';
import { describeLines, describeMoved, type PassingLine, type PassingLines } from '@agentci/judge';
import { formatUsd } from '@agentci/lib/numbers';
import { plural } from '@agentci/lib/text';

const percent = (value: number | null): string =>
  value === null ? 'not measured' : `${(value * 100).toFixed(1)} %`;
const decimal = (value: number | null): string =>
  value === null ? 'not measured' : value.toFixed(2);

const usageLine = (usage: JudgeUsage | undefined): string => {
  if (usage === undefined) return '';
  const cost = usage.cost_usd === null ? 'unknown cost' : formatUsd(usage.cost_usd);
  return `judge: ${usage.calls} calls, ${usage.cached} from the cache, ${usage.input_tokens + usage.output_tokens} tokens, ${cost}`;
};

/** Formats the findings of `judge audit`. */
export function renderAudit(report: AuditReport, usage: JudgeUsage | undefined): string {
  const { controls, attacks, repeats, position, length } = report;
  const lines = [
    `controls: a good answer scores ${controls.good.score ?? '?'}, a bad one ${controls.bad.score ?? '?'}${controlsText(controls)}`,
    `attacks: ${attacks.succeeded.length} of ${attacks.total - attacks.undecided.length} succeeded${between(attacks.interval)}${attacks.undecided.length === 0 ? '' : `, ${attacks.undecided.length} got no verdict`}`,
  ];
  for (const { id, technique, score, rationale } of attacks.succeeded)
    lines.push(`  ✗ ${technique} ${id}: score ${score}: ${short(rationale ?? '')}`);
  const undecided = new Set(attacks.undecided.map(({ error }) => error));
  for (const error of [...undecided].slice(0, 3))
    lines.push(`  ? no verdict: ${short(error ?? '')}`);
  const named = (ids: readonly string[]): string =>
    ids.length === 0 ? '' : ` (${ids.join(', ')})`;
  lines.push(
    `repeats: ${percent(repeats.flip_rate)} of the probes flip over ${repeats.repeats} repeats${named(repeats.flipped)}; scores vary by ${decimal(repeats.score_sd)}`,
    `position: reversing the scale moves scores by ${signed(position.mean_change)} and flips ${position.flipped.length} of ${position.compared}${named(position.flipped)}`,
    `length: padding moves scores by ${signed(length.mean_change)} and flips ${length.flipped.length} of ${length.compared}${named(length.flipped)}`,
  );
  if (report.errors > 0) lines.push(`${report.errors} questions got no verdict`);
  lines.push(usageLine(usage));
  return lines.filter(Boolean).join('\n');
}

function controlsText({ good, bad, hold }: AuditReport['controls']): string {
  if (hold) return '';
  const isKnown = good.score !== null && bad.score !== null;
  return `: ${isKnown ? 'the judge does not tell them apart' : 'they were not judged'}, so the rest proves nothing`;
}

const signed = (value: number | null): string =>
  value === null ? 'an unknown amount' : `${value > 0 ? '+' : ''}${value.toFixed(2)}`;

const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
};

/** Formats the findings of `judge calibrate`. */
export function renderCalibration(
  result: Calibration,
  verdict: {
    readonly min_kappa: number | null;
    readonly passing_scores: readonly PassingLines[];
    readonly lines: readonly PassingLine[];
    readonly measured: { readonly ensemble: boolean; readonly models: readonly string[] };
    readonly errors: readonly { readonly id: string; readonly message: string }[];
    readonly raters: {
      readonly pairs: readonly RaterPair[];
      readonly disputed: readonly string[];
      readonly revised: number;
    };
    readonly judge: JudgeUsage | undefined;
  },
): string {
  const { confusion, best_threshold: best, pass_rate: rate } = result;
  const lines = [
    `${result.n} labels, ${percent(result.base_rate)} of them passes; ${describeLines(verdict.passing_scores)}`,
    `judged by ${verdict.measured.ensemble ? `the ensemble of the spec: ${verdict.measured.models.join(', ')}` : `one model: ${verdict.measured.models[0]}`}`,
    '',
    '                 judge pass  judge fail',
    `  human pass     ${cell(confusion.true_pass)}  ${cell(confusion.false_fail)}`,
    `  human fail     ${cell(confusion.false_pass)}  ${cell(confusion.true_fail)}`,
    '',
    `accuracy  ${percent(result.accuracy)}${between(result.accuracy_interval)}`,
    `kappa     ${decimal(result.kappa)}${verdict.min_kappa === null ? '' : `, at least ${verdict.min_kappa} needed`}`,
    `TPR       ${percent(result.tpr)} of human passes pass`,
    `TNR       ${percent(result.tnr)} of human failures fail`,
    '',
    best === null
      ? 'best passing score: not sought, since the rubrics of these labels have several; calibrate one rubric at a time'
      : `best passing score: ${best.min_score}, kappa ${decimal(best.chosen_on.kappa)} on the ${best.chosen_on.n} labels it was chosen on, ${decimal(best.measured_on.kappa)} on the ${best.measured_on.n} others`,
    `pass rate on ${best === null ? 'the second half of the labels' : 'those others'}: judge ${percent(rate.judged)}, corrected ${percent(rate.corrected)}${between(rate.corrected_interval)}, human ${percent(rate.human)}`,
  ];
  const moved = describeMoved(verdict.lines);
  if (moved !== undefined) lines.push(moved);
  for (const { id, message } of verdict.errors.slice(0, 5))
    lines.push(`? ${id}: ${short(message)}`);
  if (verdict.errors.length > 0) lines.push(`${verdict.errors.length} labels got no verdict`);
  lines.push(...raterLines(verdict.raters), usageLine(verdict.judge));
  return lines.join('\n').trimEnd();
}

/** A judge cannot agree with people more than they agree with each other. */
function raterLines({
  pairs,
  disputed,
  revised,
}: {
  readonly pairs: readonly RaterPair[];
  readonly disputed: readonly string[];
  readonly revised: number;
}): string[] {
  const lines = pairs.map(
    ({ a, b, n, agreed, kappa, kappa_interval: range }) =>
      `raters: ${a} and ${b} agree on ${agreed} of ${n}, ${kappa === null ? 'kappa is undefined: one of them gave one label only' : `kappa ${decimal(kappa)}`}${range === null ? '' : ` (95 % interval ${decimal(range.low)} to ${decimal(range.high)})`}`,
  );
  if (revised > 0)
    lines.push(
      `${plural(revised, 'label')} changed after the judge and other raters were shown: the ones from before are used, but for disputes that were settled`,
    );
  if (disputed.length > 0)
    lines.push(
      `${plural(disputed.length, 'answer')} left out because raters disagree: ${disputed.slice(0, 5).join(', ')}${disputed.length > 5 ? ', …' : ''}`,
    );
  return lines;
}

const cell = (count: number): string => String(count).padStart(10);

const between = (range: Agreement['accuracy_interval']): string =>
  range === null ? '' : ` (95 % interval ${percent(range.low)} to ${percent(range.high)})`;
