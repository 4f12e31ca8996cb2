import type { EventEmitter } from 'node:events';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  Http2Session,
  OutgoingHttpHeaders,
  ServerHttp2Stream,
} from 'node:http2';

/**
 * A fault on one connection stays on it. Whatever Node's streams, sessions and sockets throw when they are used, and
 * whatever our code throws when they call it, is caught here: the connection ends, the process and all other
 * connections go on. Calls that Node refuses because the peer was faster are no faults and are not reported.
 */

export interface Endable {
  destroy(error?: Error): unknown;
}

/** Runs what Node calls us for; a fault of ours ends `stream`, and is reported. */
export function within(stream: Endable, run: () => void): void {
  try {
    run();
  } catch (fault) {
    failed(stream, fault);
  }
}

/** What `within` does about a fault, for callers that cannot afford its closure. */
export function failed(stream: Endable, fault: unknown): void {
  reportFault(fault);
  attempt(() => stream.destroy());
}

/** Contains what the listeners of `emitter` throw, whoever adds them. */
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

/** Faults that were contained since the process began. */
export function containedFaults(): number {
  return contained;
}

/** A fault of ours that ended no more than its connection. Seen as a warning of the process, and counted. */
export function reportFault(fault: unknown): void {
  contained++;
  const error = fault instanceof Error ? fault : new Error(String(fault));
  process.emitWarning(`contained: ${error.stack ?? error.message}`, 'EdgeproofFault');
}

// --- calls that throw when the peer was faster -------------------------------------------------------------------

/** False when `call` threw: the stream or session had ended in the meantime, and its `close` follows. */
export function attempt(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}

/** A stream is closed as soon as it was reset, and destroyed some time later; neither takes a head. */
export function isStreamOver(stream: { readonly destroyed: boolean; readonly closed: boolean }): boolean {
  return stream.destroyed || stream.closed;
}

/** Throws on a head that no stream takes, for that is a fault of ours. */
export function respond(
  stream: ServerHttp2Stream,
  fields: readonly string[],
  options: { readonly endStream?: boolean; readonly waitForTrailers?: boolean } = {},
): boolean {
  if (isStreamOver(stream)) return false;
  try {
    stream.respond(fields, options);
  } catch (error) {
    if (isStreamOver(stream)) return false;
    throw error;
  }
  return true;
}

export function respondInterim(stream: ServerHttp2Stream, fields: OutgoingHttpHeaders): boolean {
  if (isStreamOver(stream) || stream.headersSent) return false;
  return attempt(() => stream.additionalHeaders(fields));
}

export function sendTrailers(
  stream: ServerHttp2Stream | ClientHttp2Stream,
  fields: OutgoingHttpHeaders,
): boolean {
  if (isStreamOver(stream)) return false;
  return attempt(() => stream.sendTrailers(fields));
}

/** The stream, or why there is none. */
export function requestStream(
  session: ClientHttp2Session,
  fields: readonly string[],
  options: { readonly endStream: boolean; readonly waitForTrailers: boolean },
): ClientHttp2Stream | string {
  try {
    return session.request(fields, options);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function sendGoaway(session: Http2Session, code: number, lastStream?: number): boolean {
  if (session.destroyed) return false;
  return attempt(() => session.goaway(code, lastStream));
}

/** False: no ping went out, and `answered` is not called. */
export function sendPing(session: Http2Session, answered: () => void): boolean {
  if (session.destroyed) return false;
  let isSent = false;
  attempt(() => {
    isSent = session.ping(answered);
  });
  return isSent;
}

export function widenWindow(session: Http2Session, bytes: number): boolean {
  if (session.destroyed) return false;
  return attempt(() => session.setLocalWindowSize(bytes));
}
