import type { CaptureOptions } from '@agentci/capture';
import { present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { cassetteText } from '@agentci/results';
import type { RunAbout } from '@agentci/run';
import { type CassetteChoice, Cassettes, type Played, planCassettes } from '@agentci/run';
import { queryId } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { withFolder } from '../cli/options.ts';
import type { ChildEnd } from './run-child.ts';

/** A cassette that a capture records or replays. */
export interface CaptureCassette {
  readonly cassettes: Cassettes;
  readonly about: RunAbout;
  readonly options: Pick<CaptureOptions, 'offline' | 'recorded'>;
  readonly finish: (end: ChildEnd | undefined) => Played | undefined;
}

/** Agent name in the cassettes of programs without a spec. */
const AGENT = 'capture';

/** Opens the cassette of `--cassette`. Undefined without the option. */
export function openCassette(
  options: {
    readonly cassette?: CassetteChoice;
    readonly query?: string;
    readonly upstream?: readonly string[];
    readonly envOnly?: boolean;
  },
  io: Io,
): CaptureCassette | undefined {
  const choice = options.cassette === undefined ? undefined : withFolder(options.cassette, io.cwd);
  const plan = planCassettes({ choice, config: undefined, specDir: io.cwd, env: io.env });
  if (plan === undefined) return undefined;
  if (plan.mode === 'replay' && options.upstream !== undefined)
    throw new UserError(
      'OPTIONS_CONFLICT',
      'replay sends nothing to an upstream, and --upstream names one',
      {
        hint: 'Leave out --upstream, or use --cassette record or auto.',
      },
    );
  const cassettes = new Cassettes(plan, {
    agent: AGENT,
    now: io.now,
    freezeMcp: 'name the configuration of its servers with --mcp-config',
    recordCommand: () =>
      `agentci capture --cassette record${choice?.dir === undefined ? '' : `=${choice.dir}`} -- …`,
  });
  const about: RunAbout = {
    id: options.query === undefined ? 'run' : queryId(options.query),
    run: 1,
  };
  cassettes.load(about);
  const recorded = plan.mode === 'record' ? undefined : cassettes.providers([about]);
  return {
    cassettes,
    about,
    options:
      plan.mode === 'replay' && recorded !== undefined
        ? { offline: { providers: recorded } }
        : { recorded },
    finish: (end) => {
      const wentWell = end === undefined || (end.code === 0 && end.signal === undefined);
      const played = wentWell ? cassettes.finish(about) : cassettes.abandon(about);
      return played === undefined ? undefined : checkPlayed(played, cassettes.place(about));
    },
  };
}

/** Result of the single run. An empty recording, or a replay that served nothing, is an error. */
function checkPlayed(played: Played, place: string): Played {
  const { use, error } = played;
  const { mode, hits, asked = 0 } = use;
  if (error !== undefined) return played;
  let nothing: string | undefined;
  if (mode === 'replay' && hits === 0)
    nothing =
      'no recorded call was served: the program did not ask a model, or reached it past the cassette';
  else if (mode !== 'replay' && hits + asked === 0)
    nothing = `no call of a model was seen, so nothing was recorded and ${place} is as it was`;
  else nothing = undefined;
  if (nothing !== undefined)
    return { use, warnings: [], error: { kind: 'cassette', message: nothing } };
  const kept = played.keep?.(true) ?? played;
  if (kept.error !== undefined || mode !== 'record' || played.replaces === undefined) return kept;
  const message = `the earlier recording of ${plural(played.replaces, 'call')} in ${place} was replaced; --query gives each its own file`;
  return { ...kept, warnings: [...kept.warnings, { code: 'CASSETTE_REPLACED', message }] };
}

/** The outcome as lines for people. */
export const cassetteLines = ({ use, error, warnings }: Played): string[] =>
  present([
    cassetteText(use),
    ...warnings.map(({ code, message }) => `${message} (${code})`),
    error === undefined ? undefined : error.message,
  ]);
