import { realpathSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { REPORTERS } from '@agentci/reporters';
import type { Suite } from '@agentci/spec';
import { type Channel, URLS } from '../notify/channels.ts';

type ReporterName = keyof typeof REPORTERS;

/** A report with its target. */
export interface OutputPlan {
  readonly reporter: ReporterName;
  /** Undefined means stdout, or the channel of a sent report. */
  readonly file?: string;
  readonly sentTo?: Channel;
}

/** These go to a channel if no file is given. */
const CHANNELS: readonly Channel[] = ['slack', 'webhook'];
const channelNamed = (name: string): Channel | undefined =>
  CHANNELS.find((channel) => channel === name);
const channelOf: (reporter: ReporterName) => Channel | undefined = channelNamed;

/** A URL anywhere in the text, or a Slack webhook without its scheme. */
const ADDRESS = /[a-z][a-z\d+.-]+:\/|(?:^|=)hooks\.slack\.com(?:\/|$)/i;

/**
 * A URL taken as a file name would be written to disk, and a Slack URL grants access to its
 * channel. So it is not printed either.
 */
function refuseAddress(given: string, channel: Channel | undefined, flag: string): void {
  if (!ADDRESS.test(given)) return;
  const what = channel === undefined ? flag : `${flag} ${channel}=…`;
  throw new UserError(
    'OPTION_INVALID',
    `${what}: an address is not the name of a file, and nothing is sent to it`,
    {
      hint:
        channel === undefined
          ? `-f slack sends to the address in ${URLS.slack}, -f webhook to that in ${URLS.webhook}.`
          : `Set ${URLS[channel]} to the address, in CI as a secret, and use -f ${channel} alone.`,
    },
  );
}

/**
 * Parses `-f name[=file]` and `-o FILE`. Rejects combinations that would mix two documents on
 * stdout.
 */
export function planOutputs(input: {
  formats: readonly string[];
  files: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}): OutputPlan[] {
  const plans: OutputPlan[] = [];
  for (const format of input.formats) {
    const [name = '', ...rest] = format.split('=');
    refuseAddress(format, channelNamed(name), '-f');
    const reporter = reporterNamed(name);
    if (format.endsWith('=') && rest.length === 1)
      throw new UserError('OPTION_INVALID', `-f ${format} has no file name after "="`, {
        hint: `Without the "=" the report goes to stdout: -f ${name}`,
      });
    const sentTo = channelOf(reporter);
    if (rest.length > 0) plans.push({ reporter, file: resolve(input.cwd, rest.join('=')) });
    else plans.push(sentTo === undefined ? { reporter } : { reporter, sentTo });
  }
  for (const file of input.files) refuseAddress(file, undefined, '-o');
  for (const file of input.files)
    plans.push({ reporter: reporterFor(file), file: resolve(input.cwd, file) });
  if (input.formats.every((format) => CHANNELS.some((channel) => channel === format)))
    plans.unshift({ reporter: 'console' });

  const files = plans.flatMap((plan) => plan.file ?? []);
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined)
    throw new UserError('OPTIONS_CONFLICT', `two reports would be written into ${twice}`);
  const toStdout = plans.filter((plan) => plan.file === undefined && plan.sentTo === undefined);
  const document = toStdout.find((plan) => REPORTERS[plan.reporter].machineReadable);
  if (document && toStdout.length > 1) {
    const other = toStdout.find((plan) => plan !== document)!;
    throw new UserError(
      'OPTIONS_CONFLICT',
      `${document.reporter} and ${other.reporter} cannot both go to stdout`,
      {
        hint: `Send one to a file: -f ${document.reporter}=results${REPORTERS[document.reporter].extensions[0] ?? '.out'}`,
      },
    );
  }
  const annotates = toStdout.some((plan) => plan.reporter === 'github');
  // Annotations alone do not report passed queries, and print nothing without findings.
  if (annotates && !toStdout.some((plan) => plan.reporter === 'console'))
    plans.push({ reporter: 'console' });
  if (input.env.GITHUB_ACTIONS === 'true' && !document && !annotates)
    plans.push({ reporter: 'github' });
  return plans;
}

/** The reports configured in a suite (`output.format`), each as a file in `output.directory`. */
export function suiteOutputs({ output, dir }: Suite, io: { readonly cwd: string }): OutputPlan[] {
  return (output?.formats ?? []).flatMap((name): OutputPlan[] => {
    const reporter = reporterNamed(name);
    const sentTo = channelOf(reporter);
    if (sentTo !== undefined) return [{ reporter, sentTo }];
    const ending = REPORTERS[reporter].extensions[0];
    if (reporter === 'console' || ending === undefined) return [];
    return [{ reporter, file: resolve(io.cwd, dir, output!.directory, `results${ending}`) }];
  });
}

function reporterNamed(name: string): ReporterName {
  if (Object.hasOwn(REPORTERS, name)) return name as ReporterName;
  const near = didYouMean(name, Object.keys(REPORTERS));
  throw new UserError('OPTION_INVALID', `unknown report format "${name}"`, {
    hint: near
      ? `Did you mean "${near}"?`
      : `The formats are: ${Object.keys(REPORTERS).join(', ')}`,
  });
}

function reporterFor(file: string): ReporterName {
  const ending = extname(file).toLowerCase();
  for (const [name, { extensions }] of Object.entries(REPORTERS)) {
    if ((extensions as readonly string[]).includes(ending)) return name as ReporterName;
  }
  const known = Object.values(REPORTERS).flatMap(({ extensions }) => extensions);
  throw new UserError('OPTION_INVALID', `no report format is known for "${file}"`, {
    hint: `Use one of ${known.join(', ')}, or -f NAME=${file}`,
  });
}

/** A report must not replace its own input. */
export function refuseInputs(
  plans: readonly { readonly reporter: string; readonly file?: string | undefined }[],
  inputs: readonly string[],
): void {
  const read = new Set(inputs.map(realPath));
  for (const { reporter, file } of plans) {
    if (file === undefined || !read.has(realPath(file))) continue;
    throw new UserError(
      'OPTIONS_CONFLICT',
      `the ${reporter} report would replace ${file}, which this run reads`,
      {
        hint: 'Choose another file.',
      },
    );
  }
}

/** Resolves links, so that two names of one file compare equal. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
