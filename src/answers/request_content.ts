import { Readable } from 'node:stream';
import type { HeadWait } from './head_wait.ts';
import type { Body } from './port.ts';

/** A request body as undici reads it. */
export interface RequestContent {
  /** Null for a request without content. */
  readonly stream: Readable | null;
  /** Why the client did not bring it to its end, if it did not. */
  fault(): string | null;
}

/** Nothing is pulled from the client before there is a connection; each pull hands the turn to the client. */
export function requestContent(body: Body, wait: HeadWait): RequestContent {
  if (body.lengthBytes === 0) return { stream: null, fault: () => null };
  let fault: string | null = null;
  const stream = new Readable({
    highWaterMark: 65_536,
    read() {
      wait.suspend();
      void pass();
    },
  });
  // undici listens only while it sends; an error that comes later must not be nobody's.
  stream.on('error', () => undefined);

  async function pass(): Promise<void> {
    const part = await body.pull();
    if (stream.destroyed) return;
    if (part.part === 'fault') {
      fault = part.detail;
      stream.destroy(new Error(part.detail));
      return;
    }
    wait.begin();
    stream.push(part.part === 'end' ? null : part.bytes);
  }

  return { stream, fault: () => fault };
}
