import type { IncomingMessage } from 'node:http';
import { equalSecrets } from '../../crypto/digest.ts';

/** Why a request is refused, with its status. */
export interface Refusal {
  readonly status: 401 | 403 | 421;
  readonly error: string;
  readonly message: string;
}

/** A page of another site reaches a loopback port by a name of its own (DNS rebinding): only our names are answered. */
export function hostRefusal({ headers }: IncomingMessage, port: number): Refusal | null {
  if (isOwnHost(headers.host, port)) return null;
  return refused(421, 'misdirected', `this server answers as 127.0.0.1:${port} and localhost:${port} only`);
}

/** Requests to the data come from the page of this server, with the token of its URL. */
export function apiRefusal({ headers }: IncomingMessage, token: string): Refusal | null {
  const { origin, authorization = '' } = headers;
  const site = headers['sec-fetch-site'];
  const isForeign = origin !== undefined && origin !== `http://${headers.host}`;
  if (isForeign || (site !== undefined && site !== 'same-origin'))
    return refused(403, 'forbidden', 'another site may not read the inspector');
  if (!equalSecrets(authorization, `Bearer ${token}`))
    return refused(401, 'unauthorized', 'open the URL that the terminal shows: it has the token');
  return null;
}

function isOwnHost(host: string | undefined, port: number): boolean {
  const names = ['127.0.0.1', 'localhost'];
  return names.some((name) => host === `${name}:${port}` || (port === 80 && host === name));
}

function refused(status: Refusal['status'], error: string, message: string): Refusal {
  return { status, error, message };
}
