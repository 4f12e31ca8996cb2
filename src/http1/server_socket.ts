import type { Socket } from 'node:net';
import { failed, within } from '../io/containment.ts';

/** What a connection hears of its socket. */
export interface SocketOwner {
  came(bytes: Buffer): void;
  /** The peer sends no more. */
  cameToEnd(): void;
  closed(): void;
}

const OWNER = Symbol('owner');

/** A socket that knows whose it is: closures of its own for each of ten thousand connections would be half of them. */
interface Owned extends Socket {
  [OWNER]?: SocketOwner;
}

/** Has the owner hear of the socket. */
export function attach(socket: Socket, owner: SocketOwner): void {
  const owned: Owned = socket;
  owned[OWNER] = owner;
  socket.on('data', onData).on('close', onClose);
  // Before Node's own listener, which lets nothing be written any more.
  socket.prependListener('end', onEnd);
  socket.on('error', ignore); // 'close' follows
  socket.on('timeout', destroy); // set only while the client takes nothing of its reply
}

/** What comes is somebody else's from now on; the owner hears of the end of the socket only. */
export function detach(socket: Socket): Socket {
  return socket.off('data', onData).off('end', onEnd);
}

/** The owner hears nothing more; faults are ignored until somebody else looks after them. */
export function forget(socket: Socket): Socket {
  return socket.off('close', onClose).off('timeout', destroy);
}

function onData(this: Owned, bytes: Buffer): void {
  try {
    this[OWNER]?.came(bytes);
  } catch (fault) {
    failed(this, fault);
  }
}

function onEnd(this: Owned): void {
  within(this, () => this[OWNER]?.cameToEnd());
}

function onClose(this: Owned): void {
  within(this, () => this[OWNER]?.closed());
}

function destroy(this: Socket): void {
  this.destroy();
}

function ignore(): void {}
