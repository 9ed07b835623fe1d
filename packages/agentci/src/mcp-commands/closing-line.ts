import { plural } from '@agentci/lib/text';
import type { Session } from '@agentci/mcp';

/** The guard's last line, with its statistics. */
export const closingLine = ({
  calls,
  refused,
  withheld,
}: Pick<Session, 'calls' | 'refused' | 'withheld'>): string =>
  `${plural(calls, 'call')} passed on, ${refused} refused${withheld === 0 ? '' : `, ${plural(withheld, 'answer')} withheld`}`;
