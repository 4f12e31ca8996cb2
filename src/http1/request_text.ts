import type { UpstreamRequest } from '../engine/questions.ts';
import { METHODS_WITH_CONTENT } from '../http/content_length.ts';
import type { ForwardOptions } from '../io/ports.ts';
import { fieldLines, requestLine, seen } from './write.ts';

/**
 * A request head for an upstream, in Latin-1. Framing and hop-by-hop fields are set only here. Null if
 * another parser would not read it back as the same request.
 */
export function requestText(
  request: UpstreamRequest,
  lengthBytes: number | null,
  options: ForwardOptions,
): string | null {
  const line = requestLine(request.method, request.target);
  const fields = fieldLines(request.headers);
  if (line === null || fields === null || seen.hosts > 1) return null;
  let text = line;
  if (seen.hosts === 0) text += `\r\nhost: ${request.endpoint.host}:${request.endpoint.port}`;
  text += fields;
  if (request.upgrade !== null)
    return `${text}\r\nconnection: upgrade\r\nupgrade: ${request.upgrade}\r\n\r\n`;
  // RFC 9110 §10.1.4: TE is hop-by-hop, so it is named in Connection.
  text += options.takesTrailers
    ? '\r\nconnection: keep-alive, te\r\nte: trailers'
    : '\r\nconnection: keep-alive';
  if (lengthBytes === null) text += '\r\ntransfer-encoding: chunked';
  else if (lengthBytes > 0 || METHODS_WITH_CONTENT.has(request.method))
    text += `\r\ncontent-length: ${lengthBytes}`;
  if (options.expectsContinue) text += '\r\nexpect: 100-continue';
  return `${text}\r\n\r\n`;
}
