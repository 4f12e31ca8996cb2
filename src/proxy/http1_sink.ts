import { type ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FieldList } from '../http/fields.ts';
import type { ReplySink } from './port.ts';

export interface SinkOptions {
  readonly method: string;
  /** The connection; it outlives the response object. */
  readonly socket: Socket;
  /** Longest time in which the client takes nothing of what is ready for it, in ms. */
  readonly writeIdleMs: number;
  /** Whether this reply is to be the last on its connection; asked when the head goes out. */
  readonly last: () => boolean;
  /** Takes the connection over for another protocol; null where that was not asked for. */
  readonly takeOver: ((head: string) => Duplex) | null;
}

/** The reply's sink over Node's ServerResponse, which writes the framing. */
export class Http1Sink implements ReplySink {
  readonly #response: ServerResponse;
  readonly #options: SinkOptions;
  readonly #left = new AbortController();
  readonly #onClose = (): void => this.#left.abort();
  #sentBytes = 0;
  #takenOver = false;
  #flush: NodeJS.Immediate | undefined;

  constructor(response: ServerResponse, options: SinkOptions) {
    this.#response = response;
    this.#options = options;
    const { socket } = options;
    socket.once('close', this.#onClose);
    if (socket.destroyed) this.#left.abort();
    response.on('error', () => undefined); // the end of the connection follows
    response.once('finish', () => socket.off('close', this.#onClose));
  }

  get method(): string {
    return this.#options.method;
  }

  get gone(): AbortSignal {
    return this.#left.signal;
  }

  get headSent(): boolean {
    return this.#response.headersSent || this.#takenOver;
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  head(
    status: number,
    fields: FieldList,
    framing: { readonly lengthBytes: number | null; readonly content: boolean },
  ): void {
    if (this.gone.aborted) return;
    const all = [...fields];
    if (framing.lengthBytes !== null) all.push('content-length', `${framing.lengthBytes}`);
    if (this.#options.last()) all.push('connection', 'close');
    this.#response.writeHead(status, all);
    // A head whose content is yet to come must not wait for it.
    if (framing.content) this.#flush = setImmediate(() => this.#response.flushHeaders());
  }

  write(bytes: Uint8Array): boolean {
    if (this.gone.aborted) return true;
    clearImmediate(this.#flush);
    return this.#response.write(bytes, (error) => {
      if (error === null || error === undefined) this.#sentBytes += bytes.length;
    });
  }

  drained(): Promise<void> {
    return this.#wait('drain', () => undefined);
  }

  end(): Promise<void> {
    clearImmediate(this.#flush);
    return this.#wait('finish', () => this.#response.end());
  }

  switchProtocols(fields: FieldList, protocol: string): Duplex | null {
    const { socket, takeOver } = this.#options;
    if (this.gone.aborted || takeOver === null) return null;
    const head = headText(101, [...fields, 'connection', 'upgrade', 'upgrade', protocol]);
    this.#takenOver = true;
    socket.off('close', this.#onClose);
    return takeOver(head);
  }

  destroy(): void {
    this.#options.socket.destroy();
  }

  /** Settles at `event`, or when the connection has ended, be it because the client takes nothing for too long. */
  #wait(event: 'drain' | 'finish', begin: () => void): Promise<void> {
    if (this.gone.aborted) return Promise.resolve();
    const { socket, writeIdleMs } = this.#options;
    return new Promise((resolve) => {
      const stalled = (): void => void socket.destroy();
      const settle = (): void => {
        this.#response.off(event, settle);
        this.gone.removeEventListener('abort', settle);
        socket.off('timeout', stalled);
        // After the end Node has set the timeout of the pause between requests.
        if (event === 'drain') socket.setTimeout(0);
        resolve();
      };
      this.#response.on(event, settle);
      this.gone.addEventListener('abort', settle);
      // Node lets this timeout pass as long as the system takes bytes.
      socket.setTimeout(writeIdleMs).on('timeout', stalled);
      begin();
    });
  }
}

/** A response head as it stands on the wire. Throws on a field that would break out of its line. */
export function headText(status: number, fields: FieldList): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let at = 0; at < fields.length; at += 2) {
    validateHeaderName(fields[at]!);
    validateHeaderValue(fields[at]!, fields[at + 1]!);
    text += `${fields[at]}: ${fields[at + 1]}\r\n`;
  }
  return `${text}\r\n`;
}
