import type { Socket } from 'node:net';
import { failed, within } from './containment.ts';
import { sharedReads } from './shared_reads.ts';

/** What a connection is notified of by its socket. */
export interface SocketOwner {
  /**
   * The bytes between `from` and `to` have arrived; `isShared` if `bytes` hold those of other connections too. Returns
   * true if nothing of them is needed any more: they may be overwritten. Otherwise they never are.
   */
  came(bytes: Buffer, from: number, to: number, isShared: boolean): boolean;
  /** The peer has ended its side. */
  peerEnded(): void;
  closed(): void;
}

const OWNER = Symbol('owner');
const IS_DETACHED = Symbol('is detached');

/**
 * A socket with a reference to its owner. With listeners of its own, a connection would take twice the
 * memory.
 */
interface Owned extends Socket {
  [OWNER]?: SocketOwner;
  /** Another component reads. */
  [IS_DETACHED]?: boolean;
}

/** Connects the socket with its owner. */
export function attach(socket: Socket, owner: SocketOwner): void {
  const owned: Owned = socket;
  owned[OWNER] = owner;
  owned[IS_DETACHED] = false;
  sharedReads.serve(owned, onRead);
  socket.on('data', onData).on('close', onClose);
  // Before Node's own listener, after which nothing can be written.
  socket.prependListener('end', onEnd);
  socket.on('error', ignore); // 'close' follows
  socket.on('timeout', destroy); // set only while the client reads nothing of its response
}

/** Another component reads from now on; the owner is only notified of the socket's end. */
export function detach(socket: Socket): Socket {
  (socket as Owned)[IS_DETACHED] = true;
  return socket.off('data', onData).off('end', onEnd);
}

/** The owner is no longer notified; errors are ignored until another component handles them. */
export function forget(socket: Socket): Socket {
  return socket.off('close', onClose).off('timeout', destroy);
}

function onData(this: Owned, bytes: Buffer): void {
  try {
    this[OWNER]?.came(bytes, 0, bytes.length, false);
  } catch (fault) {
    failed(this, fault);
  }
}

/**
 * Called instead of `onData` where reads are shared. What is read goes to the stream if another component reads, if the
 * stream is paused, because TLS passes on all records of a read even then, or if it has earlier bytes, such as those
 * that came with a handshake.
 */
function onRead(this: Owned, count: number, buffer: Buffer): boolean {
  const { memory } = sharedReads;
  let goesOn = true;
  let isFree = false;
  if (this[IS_DETACHED] === true || this.readableFlowing !== true || this.readableLength > 0) {
    memory.placeAlone(count, buffer);
    goesOn = this.push(memory.bytes);
  } else {
    memory.place(count, buffer);
    try {
      isFree = this[OWNER]?.came(memory.bytes, memory.from, memory.to, memory.isShared) === true;
    } catch (fault) {
      failed(this, fault);
    }
  }
  sharedReads.finish(count, buffer, isFree);
  return goesOn;
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
