import { BlockList } from 'node:net';
import type { RequestHead } from '../src/engine/contract.ts';

/** The result of a hand-written decision. */
export interface HandDecision {
  readonly head: RequestHead;
  readonly clientIp: string;
  readonly status: number;
  readonly backend: string;
  /** The fields for the upstream. */
  readonly request: Readonly<Record<string, string>>;
  readonly response: Readonly<Record<string, string>>;
  readonly gzip: boolean;
}

/**
 * Hand-written code for the one configuration of `decisions.ts`: straight code, native patterns
 * and the platform's address list. It has no reasons and no trace, and cannot be reloaded.
 */
export function handWritten(): (head: RequestHead, clientIp: string) => HandDecision {
  const allowed = new BlockList();
  for (let at = 0; at < 1_000; at++) allowed.addSubnet(`10.${at >> 8}.${at & 255}.0`, 24);
  allowed.addSubnet('203.0.113.0', 24);
  const denied = /bot|crawler|^curl\/[0-6]\./i;
  const failures = { total: 0, failed: 0, openUntil: 0 };
  let turn = 0;
  return (head, clientIp) => {
    let status = 200;
    let backend = '';
    const request: Record<string, string> = {};
    for (let at = 0; at < head.headers.length; at += 2)
      request[head.headers[at]!.toLowerCase()] = head.headers[at + 1]!;
    if (!head.path.startsWith('/shop')) status = 404;
    else if (!allowed.check(clientIp)) status = 403;
    else if (request['user-agent'] === undefined || denied.test(request['user-agent'])) status = 403;
    else if (failures.openUntil > 0) status = 503;
    else {
      turn = (turn + 0.618_033_988) % 1;
      backend = turn < 0.9 ? 'app' : 'next';
      delete request['x-internal'];
      request['x-edge'] = 'a';
      request['x-zone'] = 'b';
      request['x-forwarded-for'] = clientIp;
      request['x-forwarded-proto'] = head.scheme;
      request['x-forwarded-host'] = head.authority;
      failures.total++;
    }
    const gzip = (request['accept-encoding'] ?? '').includes('gzip');
    const response: Record<string, string> = { 'content-type': 'text/html', 'x-served-by': 'edge' };
    if (gzip) {
      response['content-encoding'] = 'gzip';
      response['vary'] = 'Accept-Encoding';
    }
    return { head, clientIp, status, backend, request, response, gzip };
  };
}

/** The event of a decision. */
export function eventByHand({ head, clientIp, status, backend, response, gzip }: HandDecision): object {
  const headers: Record<string, string[]> = {};
  for (let at = 0; at < head.headers.length; at += 2) {
    const name = head.headers[at]!.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
    headers[name] = [head.headers[at + 1]!.toLowerCase()];
  }
  const responseHeaders: Record<string, string[]> = {};
  for (const [name, value] of Object.entries(response)) {
    responseHeaders[name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())] = [value.toLowerCase()];
  }
  return {
    backend: { connection_reused: true, name: backend },
    circuit_breaker: { decision: 'allow' },
    compression: { algorithm: gzip ? 'gzip' : 'none', bytes_saved: 0 },
    conn: { client_ip: clientIp, server_name: head.host, server_port: 443 },
    http: {
      request: {
        body_length: 0,
        headers,
        method: head.method.toLowerCase(),
        url: {
          host: head.host,
          path: head.path,
          query: head.query,
          raw: `https://${head.authority}${head.path}`,
        },
        user_agent: headers['User-Agent']?.[0],
      },
      response: { body_length: 0, headers: responseHeaders, status_code: status },
    },
    ip_policy: { decision: status === 403 ? 'block' : 'allow' },
  };
}
