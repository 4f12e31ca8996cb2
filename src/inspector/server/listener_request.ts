import { isIP } from 'node:net';
import { detailText } from '../../diagnostics/system_failure.ts';
import { type FieldList, firstValue, listMembers } from '../../http/fields.ts';
import { upgradeOf } from '../../http/forwarding.ts';
import { createUpstreamClient } from '../../http1/upstream_client.ts';
import { bodyOf } from '../../io/buffered_body.ts';
import type { BodyTaker, ForwardTaker, ResponseBody } from '../../io/ports.ts';
import { RequestError } from './handler.ts';

/** A request for a listener of this machine. */
export interface Outgoing {
  readonly method: string;
  readonly target: string;
  readonly headers: FieldList;
  readonly body: Uint8Array;
}

/** The address of a listener. */
export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** How long a connection, the head of the answer and each part of its content may take. */
const ANSWER_MS = 30_000;
/** Bytes of the answer that are read before the connection is closed. */
const READ_BYTES = 16_777_216;
/** A stream may have no end: its status is returned after this time, and it is read on. */
const STREAM_MS = 500;

const LIMITS = {
  connectMs: ANSWER_MS,
  headMs: ANSWER_MS,
  bodyIdleMs: ANSWER_MS,
  idleConnectionMs: 0,
  // The certificate is our own, on this machine.
  verifyTls: false,
};

/**
 * Sends a request over HTTP/1.1 on a connection of its own, and returns the status of the answer; 0 if the connection
 * ended before it. `onPort` gets the local port of the connection before a byte is sent. Throws `RequestError` if there
 * is no connection, or if the request cannot be written.
 */
export async function sendToListener(
  { method, target, headers, body }: Outgoing,
  { host, port, tls }: ListenerAddress,
  onPort: (port: number) => void,
): Promise<number> {
  let isConnected = false;
  const client = createUpstreamClient(LIMITS, {
    serverName: serverNameOf(headers),
    onConnect: ({ localPort = 0 }) => {
      isConnected = true;
      onPort(localPort);
    },
  });
  return new Promise((resolve, reject) => {
    const end = (status: number): void => {
      void client.close().then(() => resolve(status));
    };
    const taker: ForwardTaker = {
      interim: () => undefined,
      answered: ({ status }, _reused, content) => {
        const early = setTimeout(() => resolve(status), STREAM_MS);
        content.flow(
          discarding(content, () => {
            clearTimeout(early);
            end(status);
          }),
        );
      },
      switched: ({ status }, _reused, { duplex }) => {
        duplex.destroy();
        end(status);
      },
      failed: (_failure, detail) => {
        if (isConnected) return end(0);
        const error = new RequestError(502, 'unavailable', `it could not be sent: ${detailText(detail)}`);
        void client.close().then(() => reject(error));
      },
    };
    client.forward(
      {
        endpoint: { kind: 'static', id: 'listener', host, port, tls },
        method,
        target,
        headers,
        body: null,
        upgrade: upgradeOf(headers),
      },
      bodyOf(body),
      { expectsContinue: false, takesTrailers: listMembers(headers, 'te').includes('trailers') },
      taker,
    );
  });
}

/** Reads an answer up to the limit, and keeps none of it. */
function discarding(content: ResponseBody, done: () => void): BodyTaker {
  let readBytes = 0;
  return {
    take: (bytes) => {
      readBytes += bytes.length;
      if (readBytes <= READ_BYTES) return;
      content.cancel();
      done();
    },
    rest: () => true,
    end: () => {
      done();
      return true;
    },
    fail: done,
  };
}

/** The name of the Host field; empty for an address (RFC 6066 §3). */
function serverNameOf(headers: FieldList): string {
  const name = (firstValue(headers, 'host') ?? '').replace(/:\d*$/, '');
  return name.startsWith('[') || isIP(name) !== 0 ? '' : name;
}
