import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import type { LabelingSession } from '../../label/labeling-session.ts';
import { openLabeling } from '../../label/open-labeling.ts';
import { latestRun, specRuns } from '../../stored-runs/stored-run.ts';
import { RunLibrary } from '../../view/run-library.ts';
import { startViewServer } from '../../view/server.ts';
import { versionLibrary } from '../../view/version-library.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { wholeNumber } from '../options.ts';

export const command: CliCommand = {
  name: 'view',
  summary: 'view stored runs in the browser',
  configure: (parser) =>
    parser
      .option('-c, --config <file>', 'the spec whose runs are shown (default: agentci_spec.yaml)')
      .option('--port <n>', 'the port on 127.0.0.1 (default: a free one)', wholeNumber(0))
      .option('--run <id>', 'open this run; "latest" is the newest of the spec (default: the list)')
      .option('--label', 'label answers by hand, without seeing the verdict of the judge first')
      .option(
        '--rater <name>',
        'with --label: who labels (default: the user of git, else of the machine)',
      )
      .addHelpText(
        'after',
        `
Prints a URL with a secret token and serves until Ctrl-C, to this machine only. Nothing is sent anywhere.

Its page Compare shows two runs, two baseline versions, or a version and a run side by side. Versions are judged by the
spec as it is now, rubrics by stored verdicts only.

With --label, labels are appended to labels/RATER.jsonl next to the spec. agentci judge calibrate --labels labels reads them.

Examples:
  agentci view --port 8321
  agentci view --label --rater ada`,
      ),
  run: ({ options, io }) => serveView(options, io),
};

interface ViewFlags {
  readonly config?: string;
  readonly port?: number;
  readonly run?: string;
  readonly label?: boolean;
  readonly rater?: string;
}

/** Serves the page until Ctrl-C. */
export async function serveView(
  { config, port, run: given, label = false, rater }: ViewFlags,
  io: Io,
): Promise<number> {
  if (port !== undefined && port > 65_535)
    throw new UserError('OPTION_INVALID', `--port: invalid port ${port}`);
  if (rater !== undefined && !label)
    throw new UserError('OPTIONS_CONFLICT', '--rater is of use with --label only');
  const { root, latest } = specRuns(config, io);
  const library = new RunLibrary(
    root,
    io.cwd,
    versionLibrary(config, io),
    config === undefined ? undefined : latest.isOurs,
  );
  // Includes runs in progress, because those are the ones people want to watch.
  const newest = (): string | undefined => latestRun(root, { ...latest, withUnfinished: true })?.id;
  const run = given === 'latest' ? (newest() ?? given) : given;
  if (run !== undefined && library.update(run, 0) === undefined) {
    const known = newest();
    throw new UserError('RUN_MISSING', `no stored run "${run}"`, {
      hint:
        known === undefined
          ? 'Nothing has been run here yet. Runs are stored next to their spec, which -c names.'
          : `The newest is: ${known}`,
    });
  }
  const labeling = label ? await openLabeling({ config, run: given, rater }, io) : undefined;
  const server = await startViewServer({
    library,
    port: port ?? 0,
    version: io.version,
    labeling,
  }).catch((error: NodeJS.ErrnoException) => refusePort(port, error));
  io.stdout.write(
    `${server.url}${run === undefined || label ? '' : `#/?run=${encodeURIComponent(run)}`}\n`,
  );
  io.stderr.write(
    `agentci: serving ${labeling === undefined ? 'the runs of this folder' : labelsText(labeling.labels)} to this machine; Ctrl-C ends it\n`,
  );
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.close();
  labeling?.labels.close();
  return 0;
}

function refusePort(port: number | undefined, error: NodeJS.ErrnoException): never {
  if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
  throw new UserError('PORT_TAKEN', `port ${port} cannot be used: ${error.code}`, {
    hint: 'Leave --port out to get a free one.',
  });
}

/** Labels per answer and rubric. For repeats, the run that reports show. */
function labelsText({
  answers,
  total,
  repeated,
}: Pick<LabelingSession, 'answers' | 'total' | 'repeated'>): string {
  const labels = total === answers ? '' : ` (${plural(total, 'label')}, one for each rubric)`;
  const shown =
    repeated === 0
      ? ''
      : `, of ${plural(repeated, 'query', 'queries')} with repeats the worst run,`;
  return `${plural(answers, 'answer')} to label${labels}${shown}`;
}
