import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** Node tells every socket that a server of this process accepts. */
const ACCEPTED = 'net.server.socket';

/**
 * Opens a connection to a listener of this process, and finds the listener's end of it: how much it has read, and when
 * it closes, is what a test may wait for.
 */
export async function bothEnds<T extends { readonly socket: Socket }>(
  open: () => Promise<T>,
): Promise<[opened: T, listeners: Socket]> {
  const accepted: Socket[] = [];
  const take = (message: unknown): void =>
    void accepted.push((message as { readonly socket: Socket }).socket);
  subscribe(ACCEPTED, take);
  try {
    const opened = await open();
    const { localPort } = opened.socket;
    for (;;) {
      const listeners = accepted.find(({ remotePort }) => remotePort === localPort);
      if (listeners !== undefined) return [opened, listeners];
      await turn();
    }
  } finally {
    unsubscribe(ACCEPTED, take);
  }
}
