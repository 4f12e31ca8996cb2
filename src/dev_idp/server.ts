import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { secretText } from '../crypto/random.ts';
import { type DevelopmentIdp, type IdpResponse, developmentIdp } from './idp.ts';
import type { Identity } from './identities.ts';

/** The development provider on a socket. */
export interface ServedIdp {
  /** Issuer, and the origin of all paths. */
  readonly url: string;
  readonly idp: DevelopmentIdp;
  readonly close: () => Promise<void>;
}

const BODY_LIMIT_BYTES = 64 * 1_024;
const SECRET_UNITS = 32;

/**
 * Serves the development provider on loopback only, because it has no passwords. `port` 0 takes a free one.
 * Throws if the port is taken.
 */
export async function serveIdp(identities: readonly Identity[], port = 0): Promise<ServedIdp> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider has no port');
  const url = `http://127.0.0.1:${address.port}`;
  const idp = developmentIdp(url, identities, () => secretText(SECRET_UNITS));
  answerWith(server, idp);
  return {
    url,
    idp,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answerWith(server: Server, idp: DevelopmentIdp): void {
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_LIMIT_BYTES) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const { method = 'GET', url: target = '/' } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      const answer = safely(() =>
        idp.handle({ method, target, headers: request.rawHeaders, body }, Date.now()),
      );
      setTimeout(
        () => response.writeHead(answer.status, [...answer.headers]).end(answer.body),
        answer.afterMs,
      );
    });
  });
}

/** Invalid input is answered, not thrown. */
function safely(answer: () => IdpResponse): IdpResponse {
  try {
    return answer();
  } catch {
    return {
      status: 400,
      headers: ['content-type', 'text/plain'],
      body: 'The request cannot be read.\n',
      afterMs: 0,
    };
  }
}
