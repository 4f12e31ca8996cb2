import type { Target } from './oracle_steps.ts';

const MAX_WINDOW = 0x7fff_ffff;
const DEFAULT_WINDOW = 65_535;

/** Less than the window of a stream, so that neither server has to announce more in time. */
const MOST_CONTENT = 48_000;

/** Longer than any error response. */
export const ERROR_BYTES = 4_000;

/**
 * What a stream is for a client that has read everything: `never` has ended and gets no response, `stalled` waits for its
 * window, and `done` was answered, by a response or by a reset for a broken rule.
 */
type State = 'open' | 'never' | 'stalled' | 'done' | 'reset';

interface Stream {
  state: State;
  readonly path: string;
  readonly method: string;
  window: number;
  /** Content that may still be sent, and that is still declared. */
  room: number;
  declared: number | null;
  /** Bytes of a response that is complete, until its end. */
  left: number;
}

/** What a client knows of its streams if servers do as they should. */
export class ClientStreams {
  /** The lowest id that was not used. */
  next = 1;
  readonly #streams = new Map<number, Stream>();
  #initialWindow = DEFAULT_WINDOW;
  #ending: number[] = [];
  #beginning: number[] = [];

  /** The streams that end, and those whose responses begin, because of what was done since the last call. */
  due(): { readonly ending: readonly number[]; readonly beginning: readonly number[] } {
    const due = { ending: this.#ending, beginning: this.#beginning };
    this.#ending = [];
    this.#beginning = [];
    return due;
  }

  open(method: string, path: string, declared: number | null): number {
    const id = this.next;
    this.next += 2;
    const window = this.#initialWindow;
    this.#streams.set(id, { state: 'open', path, method, window, room: MOST_CONTENT, declared, left: 0 });
    return id;
  }

  idOf({ among, at }: Target): number {
    const open = [...this.#streams].filter(([, { state }]) => state === 'open').map(([id]) => id);
    const from = among === 'open' && open.length > 0 ? open : [...this.#streams.keys()];
    return among === 'idle' || from.length === 0 ? this.next : from[at % from.length]!;
  }

  named(id: number): string {
    return `${this.#streams.get(id)?.state ?? 'idle'} stream`;
  }

  isOpen(id: number): boolean {
    return this.#streams.get(id)?.state === 'open';
  }

  /** What is still declared, of an open stream. */
  declared(id: number): number | null {
    const stream = this.#streams.get(id);
    return stream?.state === 'open' ? stream.declared : null;
  }

  /** How much of some content fits the window of a stream. */
  fitting(id: number, bytes: number): number {
    const room = this.#streams.get(id)?.room ?? bytes;
    return bytes > room ? 1 : bytes;
  }

  /** Content on an open stream. */
  send(id: number, bytes: number): void {
    const stream = this.#streams.get(id)!;
    stream.room -= bytes;
    if (stream.declared !== null) stream.declared -= bytes;
  }

  /** The client has ended a stream; its response has at least so many bytes. */
  complete(id: number, atLeast = 0): void {
    const stream = this.#streams.get(id)!;
    if (stream.declared !== null && stream.declared > 0) {
      this.fail(id);
    } else if (stream.path === '/never') {
      stream.state = 'never';
    } else {
      const bytes = stream.method === 'HEAD' ? 0 : responseBytes(stream.path);
      stream.left = Math.max(bytes, atLeast);
      this.#settle(id);
    }
  }

  /** A stream has broken a rule: a server may describe that in a response before it resets the stream. */
  fail(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.state === 'done' || stream.state === 'reset') return;
    stream.left = ERROR_BYTES;
    this.#settle(id);
  }

  reset(id: number): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined && stream.state !== 'done') stream.state = 'reset';
  }

  /** Settings change the windows of open streams, too (RFC 9113 §6.9.2). */
  setInitialWindow(bytes: number): void {
    if (bytes > MAX_WINDOW) return;
    const by = bytes - this.#initialWindow;
    this.#initialWindow = bytes;
    for (const stream of this.#streams.keys()) this.widen(stream, by);
  }

  widen(id: number, by: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.window += by;
    if (stream.window > MAX_WINDOW) this.fail(id);
    else if (stream.state === 'stalled') this.#settle(id);
  }

  /** What the windows of stalled streams lack. */
  lacking(): { readonly id: number; readonly by: number }[] {
    return [...this.#streams]
      .filter(([, { state }]) => state === 'stalled')
      .map(([id, { left, window }]) => ({ id, by: left - window }));
  }

  #settle(id: number): void {
    const stream = this.#streams.get(id)!;
    const isDone = stream.left <= stream.window;
    stream.state = isDone ? 'done' : 'stalled';
    (isDone ? this.#ending : this.#beginning).push(id);
  }
}

/** What the applications answer: `/b100` has 100 bytes, everything else `ok`. */
export function responseBytes(path: string): number {
  return Number(/^\/b(\d+)$/.exec(path)?.[1] ?? 2);
}
