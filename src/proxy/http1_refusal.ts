import type { Socket } from 'node:net';
import type { Reply } from '../engine/contract.ts';
import type { FramingRefusal } from './framing.ts';
import { closeGently } from './http1_connection.ts';
import { type Service, takeTurn } from './http1_serve.ts';
import { headText } from './http1_sink.ts';
import type { RawHead } from './port.ts';

/** An error of Node's parser, with what it knows. */
export interface ParseError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

/** Node's parser, or its clock, has given a connection up: a body under way has failed, or a head is refused. */
export function onClientError(service: Service, error: ParseError, socket: Socket): void {
  const connection = service.connections.get(socket);
  // Bytes behind `Connection: close` are nobody's; and an error is told again for every further packet.
  if (error.code === 'HPE_CLOSED_CONNECTION' || connection?.broken === true) return;
  const latest = connection?.latest ?? null;
  const inBody = latest !== null && !latest.message.complete;
  const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const isParse = error.code?.startsWith('HPE_') === true;
  const leftInBody = inBody && error.code === 'HPE_INVALID_EOF_STATE';
  const saidNothing = socket.bytesRead === 0;
  if (connection === undefined || (!isTimeout && !isParse) || leftInBody || saidNothing || !socket.writable) {
    socket.destroy();
    return;
  }
  connection.broken = true;
  if (inBody) {
    // Nobody waits for the rest of a body whose exchange is done.
    if (connection.turns.idle) socket.destroy();
    else latest.body.fail(isTimeout ? 'timeout' : 'malformed', error.reason ?? error.message);
    return;
  }
  const head = partialHeadOf(error, socket);
  const refused = refusalOf(error, head);
  takeTurn(service, connection, async () => {
    const page = service.plane.refuse({ ...refused, connection: connection.facts, head });
    socket.write(refusalText(page), 'latin1');
    closeGently(socket, service.limits.lingerMs);
  });
}

/** What to answer to a head that Node's parser has refused. */
function refusalOf(error: ParseError, head: Partial<RawHead>): FramingRefusal {
  const detail = error.reason ?? error.message;
  switch (error.code ?? '') {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, code: 'head_too_large', detail: 'the request head is longer than the limit' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, code: 'head_timeout', detail: 'the request head did not arrive in time' };
    case 'HPE_PAUSED_H2_UPGRADE':
      return { status: 505, code: 'version', detail: 'HTTP/2 is not spoken here' };
    case 'HPE_INVALID_TRANSFER_ENCODING':
    case 'HPE_INVALID_CONTENT_LENGTH':
    case 'HPE_UNEXPECTED_CONTENT_LENGTH':
      return { status: 400, code: 'framing', detail };
    case 'HPE_INVALID_METHOD':
      // The parser knows a list of methods only; a request line that is sound otherwise has one that is not on it.
      return head.method === undefined
        ? { status: 400, code: 'malformed', detail }
        : { status: 501, code: 'method', detail: 'the method is not known here' };
    default:
      return { status: 400, code: 'malformed', detail };
  }
}

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([!-~]{1,65536}) HTTP\/(1\.[01])\r\n/;

/**
 * The request line of a refused head, where the connection's only bytes so far are those that the parser choked
 * on. Later on the same connection nobody can tell a head from the rest of a body.
 */
function partialHeadOf(error: ParseError, socket: Socket): Partial<RawHead> {
  const packet = error.rawPacket;
  if (packet === undefined || socket.bytesRead !== packet.length) return {};
  const line = REQUEST_LINE.exec(packet.toString('latin1'));
  if (line === null) return {};
  return { method: line[1]!, target: line[2]!, version: line[3] === '1.0' ? '1.0' : '1.1', scheme: 'http' };
}

/** The reply to a head that no parser understood, as bytes in Latin-1. */
function refusalText(reply: Reply): string {
  const body = contentOf(reply);
  const framing = [
    'date',
    new Date().toUTCString(),
    'content-length',
    `${body.length}`,
    'connection',
    'close',
  ];
  return headText(reply.status, [...reply.headers, ...framing]) + body.toString('latin1');
}

function contentOf({ body }: Reply): Buffer {
  if (body === 'upstream') return Buffer.alloc(0);
  return 'text' in body ? Buffer.from(body.text) : Buffer.from(body.bytes);
}
