import type { ClientHttp2Stream } from 'node:http2';
import type { UpstreamRequest } from '../engine/questions.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import { withoutNames } from '../http/trailers.ts';
import { isStreamOver, sendTrailers } from '../io/containment.ts';
import type { Body, BodyFault, BodyTaker } from '../io/ports.ts';
import { http2Trailers } from './fields.ts';

/** The request that an upload belongs to. */
export interface Uploading {
  /** The upstream must read or answer within the time for the head; false: nothing is expected of it. */
  uploaded(awaitsUpstream: boolean): void;
  /** The sender of the body has failed. */
  uploadFailed(detail: string): void;
}

/** The body of a request, on its way to the stream of the upstream. */
export class UpstreamUpload implements BodyTaker {
  readonly #stream: ClientHttp2Stream;
  readonly #body: Body;
  readonly #request: Uploading;
  readonly #removed: UpstreamRequest['removed'];
  /** What is written at the next rest. */
  readonly #pieces: Uint8Array[] = [];
  #trailers: FieldList = NO_FIELDS;
  #isStalled = false;
  #isCut = false;

  constructor(
    stream: ClientHttp2Stream,
    body: Body,
    request: Uploading,
    removed: UpstreamRequest['removed'],
  ) {
    this.#stream = stream;
    this.#body = body;
    this.#request = request;
    this.#removed = removed;
    stream.once('wantTrailers', () => {
      // Node ends a stream before it resets it; an upload that is cut must not look complete.
      if (!this.#isCut) sendTrailers(stream, http2Trailers(this.#trailers));
    });
    stream.on('drain', this.#onDrain);
  }

  start(): void {
    this.#body.flow(this);
    if (!this.#stream.writableEnded) this.rest();
  }

  /** The stream is about to be reset. */
  cut(): void {
    this.#isCut = true;
  }

  take(bytes: Uint8Array): void {
    // Lent bytes are copied: they wait for the upstream's window. Empty writes: docs/decisions/0020.
    if (bytes.length > 0 && this.#isWritable()) this.#pieces.push(Buffer.from(bytes));
  }

  rest(): boolean {
    if (!this.#isWritable()) return true;
    const goesOn = this.#write();
    this.#isStalled = !goesOn;
    // Time in which the upstream reads nothing counts against it; time in which the client sends nothing does not.
    this.#request.uploaded(!goesOn);
    return goesOn;
  }

  end(trailers: FieldList): boolean {
    this.#trailers = withoutNames(trailers, this.#removed);
    if (!this.#isWritable()) return true;
    this.#write();
    this.#stream.end();
    this.#request.uploaded(true);
    return true; // what was lent is copied
  }

  fail(_fault: BodyFault, detail: string): void {
    this.#request.uploadFailed(detail);
  }

  readonly #onDrain = (): void => {
    this.#isStalled = false;
    this.#request.uploaded(false);
    if (this.#isWritable()) this.#body.resume();
  };

  #isWritable(): boolean {
    const stream = this.#stream;
    return !isStreamOver(stream) && !stream.writableEnded;
  }

  #write(): boolean {
    const pieces = this.#pieces;
    if (pieces.length === 0) return !this.#isStalled;
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    pieces.length = 0;
    return this.#stream.write(bytes);
  }
}
