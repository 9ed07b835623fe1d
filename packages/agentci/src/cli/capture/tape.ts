import type { CaptureOptions } from '../../capture/capture.ts';
import { type CassetteChoice, planCassettes } from '../../engine/cassette-choice.ts';
import { Cassettes, type Played } from '../../engine/cassettes.ts';
import { UserError } from '../../kit/user-error.ts';
import { cassetteText } from '../../results/cassette-text.ts';
import type { RunAbout } from '../../runners/runner.ts';
import { queryId } from '../../spec/query-id.ts';
import type { Io } from '../io.ts';
import { withFolder } from '../options.ts';
import type { ChildEnd } from './run-child.ts';

/** A capture that is recorded into a cassette, or answered from one. */
export interface Tape {
  readonly cassettes: Cassettes;
  readonly about: RunAbout;
  readonly options: Pick<CaptureOptions, 'offline' | 'providers' | 'lacking'>;
  readonly finish: (end: ChildEnd | undefined) => Played | undefined;
}

/** The agent's name in the cassettes of programs that no spec knows. */
const AGENT = 'capture';

/** Prepares the cassette that `--cassette` asks for; undefined where it does not. */
export function openTape(
  options: {
    readonly cassette?: CassetteChoice;
    readonly query?: string;
    readonly upstream?: readonly string[];
    readonly envOnly?: boolean;
  },
  io: Io,
): Tape | undefined {
  const choice = options.cassette === undefined ? undefined : withFolder(options.cassette, io.cwd);
  const plan = planCassettes({ choice, config: undefined, specDir: io.cwd, env: io.env });
  if (plan === undefined) return undefined;
  if (plan.mode === 'replay' && options.upstream !== undefined)
    throw new UserError('CASSETTE_UPSTREAM', 'replay sends nothing to an upstream, and --upstream names one', {
      hint: 'Leave out --upstream, or use --cassette record or auto.',
    });
  const cassettes = new Cassettes(plan, { agent: AGENT, now: io.now });
  const about: RunAbout = { id: options.query === undefined ? 'run' : queryId(options.query), run: 1 };
  const unprepared = cassettes.prepare(about);
  if (unprepared?.error !== undefined)
    throw new UserError('CASSETTE_MISSING', unprepared.error.message, {
      hint: 'Record it first: agentci capture --cassette record -- …',
    });
  const recorded = plan.mode === 'record' ? undefined : cassettes.providers([about]);
  return {
    cassettes,
    about,
    options:
      recorded === undefined
        ? {}
        : plan.mode === 'replay'
          ? { offline: { providers: recorded } }
          : { providers: Object.keys(recorded), lacking: recorded },
    finish: (end) =>
      end === undefined || (end.code === 0 && end.signal === undefined)
        ? cassettes.finish(about)
        : cassettes.abandon(about),
  };
}

/** What came of it, for people. */
export const tapeLines = ({ use, error, warnings }: Played): string[] => [
  cassetteText(use),
  ...warnings.map(({ code, message }) => `${message} (${code})`),
  ...(error === undefined ? [] : [error.message]),
];
