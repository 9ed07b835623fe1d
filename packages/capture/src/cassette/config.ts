import { v } from '@agentci/lib/values';
import { IGNORE_FORM } from './ignore.ts';
import { SCRUB_NAMES, whyNotScrub } from './scrub.ts';

export const CASSETTE_MODES = ['record', 'replay', 'auto', 'off'] as const;
export type CassetteModeChoice = (typeof CASSETTE_MODES)[number];

/** `cassette:` of a spec. */
export const cassetteSchema = v
  .strictObject({
    dir: v
      .string()
      .regex(/\S/)
      .optional()
      .describe('Folder of the cassettes (default: ./cassettes)'),
    mode: v
      .enum([...CASSETTE_MODES])
      .optional()
      .describe(
        'record, replay, auto (the default: answer recorded calls, ask and store the rest; in CI as replay) or off',
      ),
    ignore: v
      .array(
        v
          .string()
          .regex(
            IGNORE_FORM,
            'it is a field at the top of the request ("seed") or a JSON pointer in which * is any key or place ("/messages/*/id")',
          ),
      )
      .min(1)
      .optional()
      .describe(
        'Fields of requests that are not compared, in addition to user, metadata and other volatile ones',
      ),
    scrub: v
      .array(
        v
          .string()
          .refine((item: string) => whyNotScrub(item) === undefined, {
            message: (item: string) => whyNotScrub(item) ?? '',
            code: 'SPEC_VALUE',
          })
          .keywords({ pattern: `^(?:${SCRUB_NAMES.join('|')}|secret:\\S+|/.+/)$` }),
      )
      .min(1)
      .optional()
      .describe(
        `Texts that differ from run to run: ${SCRUB_NAMES.join(', ')}, a regular expression between slashes, or secret:NAME for a credential in replies`,
      ),
    errors: v
      .boolean()
      .optional()
      .describe('Keep failed replies too (rate limits, 5xx) (default: false)'),
    repeat: v
      .enum(['next', 'last'])
      .optional()
      .describe(
        'An equal request gets the next answer (the default), or the last one again when there is no other',
      ),
  })
  .describe('Record the calls of models once, and answer them from files afterwards');

/** The parsed `cassette:` section. */
export interface CassetteConfig {
  readonly dir?: string;
  readonly mode?: CassetteModeChoice;
  readonly ignore?: readonly string[];
  readonly scrub?: readonly string[];
  readonly errors?: boolean;
  readonly repeat?: 'next' | 'last';
}
