import type { Duplex } from 'node:stream';
import type { Inbox } from '../wire/inbox.ts';

/** Gives a connection back what was read ahead of it, for whoever takes it over; the bytes are copied. */
export function giveBack(inbox: Inbox, socket: Duplex): void {
  if (inbox.length > 0) socket.unshift(Buffer.from(inbox.bytes.subarray(inbox.from, inbox.to)));
  inbox.clear();
}
