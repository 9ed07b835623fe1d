import { plural } from '../../kit/words.ts';
import type { Session } from '../../mcp/guard/session.ts';

/** What a guard says of its work when it ends. */
export const closingLine = ({
  calls,
  refused,
  withheld,
}: Pick<Session, 'calls' | 'refused' | 'withheld'>): string =>
  `${plural(calls, 'call')} passed on, ${refused} refused${withheld === 0 ? '' : `, ${plural(withheld, 'answer')} withheld`}`;
