import { type Command, Option } from 'commander';

const WHEN = ['always', 'fail', 'change'] as const;
type NotifyWhen = (typeof WHEN)[number];

/** Command line options for notifications. */
export interface NotifyOptions {
  readonly notifyOn?: NotifyWhen;
  readonly notifyTemplate?: string;
}

export const addNotifyFlags = (parser: Command): Command =>
  parser
    .addOption(
      new Option(
        '--notify-on <when>',
        'slack, webhook: send always, when the run did not pass, or when its verdict changed',
      ).choices([...WHEN]),
    )
    .option(
      '--notify-template <file>',
      'slack, webhook: a JSON template with {{placeholders}} that replaces the message',
    );
