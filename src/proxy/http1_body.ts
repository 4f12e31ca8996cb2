import type { IncomingMessage } from 'node:http';
import { Flow } from '../answers/flow.ts';
import type { BodyFault, RequestBody } from './port.ts';

export interface Http1Body extends RequestBody {
  /** The listener has found that the content is broken or too slow. */
  fail(fault: BodyFault, detail: string): void;
  /** Reads the rest and throws it away; calls `tooLong` when that takes longer than `lingerMs`. */
  discard(lingerMs: number, tooLong: () => void): void;
}

/**
 * A request's content as Node's parser hands it over. Nothing is read from the client before the first pull;
 * `firstPull` is where 100 Continue is said.
 */
export function createBody(
  request: IncomingMessage,
  lengthBytes: number | null,
  idleMs: number,
  firstPull: () => void,
): Http1Body {
  const flow = new Flow({ pause: () => request.pause(), resume: () => request.resume(), idleMs });
  let receivedBytes = 0;
  let begun = false;
  request.on('error', () => undefined); // 'close' follows and says the same
  request.once('close', () => {
    if (!request.complete) flow.fail('left', 'the client left in the middle of its request body');
  });

  function onData(bytes: Uint8Array): void {
    receivedBytes += bytes.length;
    flow.push(bytes);
  }

  return {
    lengthBytes,
    pull() {
      if (!begun && !flow.ended) {
        begun = true;
        firstPull();
        request.on('data', onData).once('end', () => flow.end());
      }
      return flow.pull();
    },
    fail: (fault, detail) => flow.fail(fault, detail),
    discard(lingerMs, tooLong) {
      if (request.complete && request.readableEnded) return;
      request.off('data', onData);
      request.resume();
      if (request.complete) return;
      const timer = setTimeout(tooLong, lingerMs);
      request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    },
    get receivedBytes() {
      return receivedBytes;
    },
    get fault() {
      return flow.fault;
    },
  };
}
