import { readTraces } from '@agentci/formats';
import { asBlind, isScore, type Label, raterPairs, resolveRubric } from '@agentci/judge';
import type {
  LabelGiven,
  LabelItem,
  LabelRequest,
  LabelSaved,
  LabelState,
  RunResult,
} from '@agentci/results';
import { caseKey, caseText } from '@agentci/results';
import { recordingOf, rubricQuestion, TraceMatcher } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { finalText } from '@agentci/trace';
import {
  fileNameOf,
  type LabelFiles,
  LabelWriter,
  labelStamp,
  readLabelFolder,
} from './label-files.ts';
import { byUncertainty, type LabelCase, labelCases } from './label-items.ts';

const MAX_QUEUE = 50;
const MAX_NOTE = 10_000;

export interface LabelingOptions {
  readonly run: RunResult;
  readonly suite: Suite | undefined;
  /** Folder of the recordings of the run. */
  readonly traces: string | undefined;
  /** Folder of the labels. */
  readonly folder: string;
  readonly rater: string;
  readonly now: () => number;
}

interface ShownTexts extends Pick<LabelItem, 'query' | 'context' | 'context_missing'> {
  /** The full judged text, if it differs from the answer of the result. */
  readonly answer?: string;
  readonly isConversation?: boolean;
}

/** The labeling state of one rater for the answers of one run. */
export class LabelingSession {
  readonly #options: LabelingOptions;
  readonly #cases: readonly LabelCase[];
  readonly #byId: ReadonlyMap<string, LabelCase>;
  readonly #writer: LabelWriter;
  readonly #file: string;
  #read: { stamp: string; files: LabelFiles } | undefined;

  constructor(options: LabelingOptions) {
    this.#options = options;
    this.#cases = byUncertainty(labelCases(options.run.results, options.suite));
    this.#byId = new Map(this.#cases.map((one) => [one.id, one]));
    this.#file = fileNameOf(options.rater);
    this.#writer = new LabelWriter(options.folder, this.#file);
  }

  /** Number of answers, independent of the number of rubrics. */
  get answers(): number {
    return new Set(this.#cases.map(({ result }) => caseKey(result))).size;
  }

  /** Number of queries of which only the displayed run can be labeled. */
  get repeated(): number {
    const { results } = this.#options.run;
    return results.filter(({ runs = [], answer }) => runs.length > 1 && answer !== null).length;
  }

  get total(): number {
    return this.#cases.length;
  }

  /** Bytes removed from an unfinished line. */
  get cutOff(): number {
    return this.#writer.cutOff;
  }

  state(): LabelState {
    const { rater, run } = this.#options;
    const { labels, problems } = this.#labels();
    const here = labels.filter(({ id }) => this.#byId.has(id));
    const mine = new Map(
      here.filter((label) => label.rater === rater).map((label) => [label.id, label]),
    );
    const disputed = here.flatMap(({ id, human, rater: by }) =>
      by !== rater && mine.has(id) && mine.get(id)!.human !== human ? [id] : [],
    );
    return {
      rater,
      agent: run.agent,
      run: run.run_id,
      file: `labels/${this.#file}`,
      total: this.#cases.length,
      labelled: mine.size,
      queue: this.#cases
        .filter(({ id }) => !mine.has(id))
        .slice(0, MAX_QUEUE)
        .map(({ id }) => id),
      disputed: [...new Set(disputed)],
      pairs: raterPairs(here.map(asBlind)),
      revised: here.filter(({ revised }) => revised).length,
      judged: this.#cases.filter(({ uncertainty }) => uncertainty !== null).length,
      unreadable: problems.length,
    };
  }

  async item(id: string): Promise<LabelItem | undefined> {
    const one = this.#byId.get(id);
    if (one === undefined) return undefined;
    const given = this.#labels().labels.filter((label) => label.id === id);
    const mine = given.find(({ rater }) => rater === this.#options.rater);
    const { isConversation: _, ...question } = await this.#question(one);
    const rubric = one.rubric === undefined ? undefined : resolveRubric(one.rubric.written);
    return {
      id,
      name: caseText(one.result),
      answer: one.answer,
      ...question,
      rule: rubric?.rule,
      scale: rubric?.scale,
      min_score: one.minScore,
      // Raters who have not decided yet see nothing that could influence them.
      mine: mine === undefined ? undefined : givenBy(mine),
      after:
        mine === undefined
          ? undefined
          : {
              judge: { status: one.judge.status, verdicts: [...one.judge.verdicts] },
              others: given
                .filter((label) => label !== mine)
                .map((label) => ({ rater: label.rater ?? 'unnamed', ...givenBy(label) })),
            },
    };
  }

  /** Writes a label to disk before it returns. Returns a text if the request is invalid. */
  async save(request: unknown): Promise<LabelSaved | string> {
    const wrong = problemOf(request);
    if (wrong !== undefined) return wrong;
    const { id, label, score, note } = request as LabelRequest;
    const one = this.#byId.get(id);
    if (one === undefined) return 'no such answer in this run';
    if (label !== null && score !== undefined && score >= one.minScore !== (label === 'pass'))
      return `a score of ${score} is a ${score >= one.minScore ? 'pass' : 'fail'} here, where ${one.minScore} or more passes; the label says ${label}`;
    const { rater, run, now } = this.#options;
    const { query, context, answer = one.answer, isConversation } = await this.#question(one);
    const { rule, template, scale, few_shot_examples } = one.rubric?.written ?? {};
    // Stored even if it is the template's default, because a later version of the template must not
    // change these labels.
    const threshold =
      one.rubric === undefined ? undefined : resolveRubric(one.rubric.written).threshold;
    this.#writer.append({
      id,
      query,
      answer,
      conversation: isConversation === true ? true : undefined,
      label,
      score: label !== null && score !== undefined ? score : undefined,
      note: note || undefined,
      rater,
      at: new Date(now()).toISOString(),
      // Saving the first label reveals the judge and the other raters, so later decisions are not
      // blind.
      revised: this.#labels().hasSeen(rater, id) ? true : undefined,
      run: run.run_id,
      check: one.rubric?.place.id,
      rule,
      template,
      threshold,
      scale,
      few_shot_examples,
      context,
    });
    this.#read = undefined;
    return { item: (await this.item(id))!, state: this.state() };
  }

  close(): void {
    this.#writer.close();
  }

  #labels(): LabelFiles {
    const { folder } = this.#options;
    const stamp = labelStamp(folder);
    if (this.#read?.stamp !== stamp) this.#read = { stamp, files: readLabelFolder(folder) };
    return this.#read.files;
  }

  /** The texts shown to the judge. Recordings are read only for rubrics on more than the answer. */
  async #question(one: LabelCase): Promise<ShownTexts> {
    const { query, rubric, result, answer } = one;
    const plain = { query: result.query };
    if (query === undefined || rubric === undefined) return plain;
    const { needsContext, needs } = resolveRubric(rubric.written);
    const isPlain =
      !needsContext &&
      needs === undefined &&
      rubric.key !== 'hallucination_check' &&
      rubric.written.context_file === undefined &&
      query.conversation === undefined;
    if (isPlain) return plain;
    const trace = await this.#trace(one);
    if (trace === undefined)
      return { ...plain, context_missing: 'the recording of this answer is unavailable' };
    const asked = rubricQuestion(rubric, { query, trace, answer, dir: this.#options.suite!.dir });
    if ('problem' in asked) return { ...plain, context_missing: asked.problem };
    const { query: text, answer: scored, context, isConversation } = asked.question;
    return {
      query: text,
      answer: isConversation === true ? scored : undefined,
      isConversation: isConversation === true ? isConversation : undefined,
      context,
    };
  }

  async #trace({ result, answer }: LabelCase): Promise<Trace | undefined> {
    const { traces, run } = this.#options;
    if (traces === undefined) return undefined;
    const matcher = new TraceMatcher(run.results, (each) => each.runs?.length ?? 1);
    try {
      for await (const trace of readTraces(traces, { onProblem: () => {} })) {
        const match = matcher.take(recordingOf(trace));
        if (
          match.kind === 'run' &&
          caseKey(match.query) === caseKey(result) &&
          finalText(trace) === answer
        )
          return trace;
      }
    } catch {
      // Unreadable recordings are shown as missing.
    }
    return undefined;
  }
}

const givenBy = ({ human, score, note }: Label): LabelGiven => ({
  label: human ? 'pass' : 'fail',
  score,
  note,
});

function problemOf(request: unknown): string | undefined {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    return 'a label is a JSON object';
  const { id, label, score, note } = request as Record<string, unknown>;
  if (typeof id !== 'string') return 'a label needs the "id" of an answer';
  if (label !== 'pass' && label !== 'fail' && label !== null)
    return '"label" is "pass", "fail" or null';
  if (score !== undefined && !isScore(score)) return '"score" is a whole number from 1 to 5';
  if (note !== undefined && (typeof note !== 'string' || note.length > MAX_NOTE))
    return `"note" is a text of at most ${MAX_NOTE} characters`;
  return undefined;
}
