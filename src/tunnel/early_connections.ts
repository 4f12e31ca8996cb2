import type { Socket } from 'node:net';
import { parseSocketAddress } from '../net/address.ts';

/** Limits of connections whose agents are not known yet; all of them are our choice. */
export interface EarlyLimits {
  /** Maximum number from one IPv4 address, or from one IPv6 network of 64 bits. */
  readonly perNetwork: number;
  /** With this many connections in all, places are scarce. */
  readonly scarce: number;
  /** Time to authenticate while places are scarce, in ms. */
  readonly scarceMs: number;
}

/** All agents behind one address may connect again at the same time, so a network gets a quarter of the places. */
export const EARLY_LIMITS: EarlyLimits = { perNetwork: 500, scarce: 1_500, scarceMs: 3_000 };

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort' | 'destroy'>;

interface Early {
  readonly socket: Pick<Socket, 'destroy'>;
  readonly network: string;
  readonly sinceMs: number;
}

/** Connections from their start until their agents have authenticated: no network of clients takes all places. */
export class EarlyConnections {
  readonly #limits: EarlyLimits;
  readonly #nowMs: () => number;
  /** By peer; the oldest first. */
  readonly #early = new Map<string, Early>();
  readonly #byNetwork = new Map<string, number>();

  constructor(limits: EarlyLimits, nowMs: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Counts a connection. Returns the key for `settled`; null if its network has too many, and it must be closed. */
  begin(socket: Peer): string | null {
    const key = peerKey(socket);
    this.settled(key);
    const network = networkOf(socket.remoteAddress ?? '');
    const count = this.#byNetwork.get(network) ?? 0;
    if (count >= this.#limits.perNetwork) return null;
    this.#byNetwork.set(network, count + 1);
    this.#early.set(key, { socket, network, sinceMs: this.#nowMs() });
    return key;
  }

  /** The agent of a connection has authenticated, or the connection has ended. */
  settled(key: string): void {
    const early = this.#early.get(key);
    if (early === undefined) return;
    this.#early.delete(key);
    const left = this.#byNetwork.get(early.network)! - 1;
    if (left > 0) this.#byNetwork.set(early.network, left);
    else this.#byNetwork.delete(early.network);
  }

  /** With so many connections in all, closes those that had their time. */
  makeRoom(connections: number): void {
    if (connections < this.#limits.scarce) return;
    const untilMs = this.#nowMs() - this.#limits.scarceMs;
    for (const [key, { socket, sinceMs }] of this.#early) {
      if (sinceMs > untilMs) return;
      this.settled(key);
      socket.destroy();
    }
  }
}

/** The same for the TCP and the TLS side of a connection. */
export function peerKey({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress ?? ''} ${remotePort ?? 0}`;
}

function networkOf(text: string): string {
  const address = parseSocketAddress(text);
  if (address === null || address.family === 4) return address?.text ?? '';
  return `${address.w0.toString(16)} ${address.w1.toString(16)}/64`;
}
