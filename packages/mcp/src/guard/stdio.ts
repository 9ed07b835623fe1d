import { type Message, messageText } from '../message.ts';
import type { Middle, Passage } from '../stdio-pump.ts';
import type { Guard } from './guard.ts';
import type { Session } from './session.ts';

/** The guard between a client and a server over stdio. */
export const guardStdio = (guard: Guard, session: Session): Middle => ({
  decide: (dir, line): Passage => {
    if (dir === 's2c') return { on: guard.fromServer(line, session) };
    const { forward, replies } = guard.fromClient(line, session);
    return { on: forward, back: linesOf(replies) };
  },
  decideLong: (dir) => {
    if (dir === 'c2s') {
      const reply = guard.tooLong(session);
      return { mayPass: reply === undefined, back: linesOf(reply === undefined ? [] : [reply]) };
    }
    // A list of tools that cannot be parsed could show hidden ones, and a result forbidden data.
    return { mayPass: !guard.mustRead(session) };
  },
});

const linesOf = (messages: readonly Message[]): Buffer | undefined =>
  messages.length === 0
    ? undefined
    : Buffer.from(messages.map((message) => `${messageText(message)}\n`).join(''));
