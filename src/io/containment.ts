import type { EventEmitter } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, Http2Session, OutgoingHttpHeaders } from 'node:http2';
import { errorText } from '../diagnostics/message_text.ts';

/**
 * Keeps a fault of one connection from affecting others. Errors that Node's streams, sessions and sockets
 * throw when they are used, or that our listeners throw, are caught here: the connection ends, the process
 * and all other connections continue. Calls that Node refuses because the peer was faster are not faults and
 * are not reported.
 */

export interface Endable {
  destroy(error?: Error): unknown;
}

/** Runs a listener; a fault in it ends `stream` and is reported. */
export function within(stream: Endable, run: () => void): void {
  try {
    run();
  } catch (fault) {
    failed(stream, fault);
  }
}

/** Handles a fault as `within` does, for callers that cannot afford a closure. */
export function failed(stream: Endable, fault: unknown): void {
  reportFault(fault);
  attempt(() => stream.destroy());
}

/** Contains errors thrown by any listener of `emitter`. */
export function contain<E extends EventEmitter & Endable>(emitter: E): E {
  const emit = emitter.emit.bind(emitter) as (event: string | symbol, ...values: unknown[]) => boolean;
  emitter.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    try {
      return emit(event, ...values);
    } catch (fault) {
      failed(emitter, fault);
      return true;
    }
  };
  return emitter;
}

let contained = 0;

/** Number of contained faults since the start of the process. */
export function containedFaults(): number {
  return contained;
}

/** Reports a fault that ended only its connection, as a warning of the process, and counts it. */
export function reportFault(fault: unknown): void {
  contained++;
  const error = fault instanceof Error ? fault : new Error(String(fault));
  process.emitWarning(`contained: ${error.stack ?? error.message}`, 'EdgeproofFault');
}

// --- calls that throw when the peer was faster -------------------------------------------------------------------

/** False when `call` threw: the stream or session has ended in the meantime, and its `close` follows. */
export function attempt(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}

/** A reset stream is closed at once and destroyed some time later; in neither state it accepts a head. */
export function isStreamOver(stream: { readonly destroyed: boolean; readonly closed: boolean }): boolean {
  return stream.destroyed || stream.closed;
}

export function sendTrailers(stream: ClientHttp2Stream, fields: OutgoingHttpHeaders): boolean {
  if (isStreamOver(stream)) return false;
  return attempt(() => stream.sendTrailers(fields));
}

/** The stream, or why it could not be opened. */
export function requestStream(
  session: ClientHttp2Session,
  fields: readonly string[],
  options: { readonly endStream: boolean; readonly waitForTrailers: boolean },
): ClientHttp2Stream | string {
  try {
    return session.request(fields, options);
  } catch (error) {
    return errorText(error);
  }
}

/**
 * Ends a stream with a reset, in the next iteration of the event loop. `close()` during a read of its session aborts the
 * process: Node postpones that reset, may destroy the stream before it is sent, and then asks it for its trailers. Node also postpones
 * a reset while a write of the session is unfinished; a stream that ends by itself until then is never reset, and its
 * session sends empty frames of it without end. Destroying a stream sends its reset first.
 */
export function resetStream(stream: ClientHttp2Stream, code: number): void {
  setImmediate(() => {
    if (stream.destroyed) return;
    attempt(() => {
      if (!stream.closed) stream.close(code);
      stream.destroy();
    });
  });
}

export function widenWindow(session: Http2Session, bytes: number): boolean {
  if (session.destroyed) return false;
  return attempt(() => session.setLocalWindowSize(bytes));
}
