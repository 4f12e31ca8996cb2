import type { Socket } from 'node:net';
import { failed, within } from './containment.ts';

/** What a connection is notified of by its socket. */
export interface SocketOwner {
  came(bytes: Buffer): void;
  /** The peer has ended its side. */
  peerEnded(): void;
  closed(): void;
}

const OWNER = Symbol('owner');

/**
 * A socket with a reference to its owner. With listeners of its own, a connection would take twice the
 * memory.
 */
interface Owned extends Socket {
  [OWNER]?: SocketOwner;
}

/** Connects the socket with its owner. */
export function attach(socket: Socket, owner: SocketOwner): void {
  const owned: Owned = socket;
  owned[OWNER] = owner;
  socket.on('data', onData).on('close', onClose);
  // Before Node's own listener, after which nothing can be written.
  socket.prependListener('end', onEnd);
  socket.on('error', ignore); // 'close' follows
  socket.on('timeout', destroy); // set only while the client reads nothing of its response
}

/** Another component reads from now on; the owner is only notified of the socket's end. */
export function detach(socket: Socket): Socket {
  return socket.off('data', onData).off('end', onEnd);
}

/** The owner is no longer notified; errors are ignored until another component handles them. */
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
  within(this, () => this[OWNER]?.peerEnded());
}

function onClose(this: Owned): void {
  within(this, () => this[OWNER]?.closed());
}

function destroy(this: Socket): void {
  this.destroy();
}

function ignore(): void {}
