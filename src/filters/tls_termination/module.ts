import type { Connection, Pass, RequestHead, Stop } from '../../engine/contract.ts';
import { tlsVersionNumber } from '../../engine/connection.ts';
import type { Linked, Module } from '../../engine/module.ts';
import { targetOf } from '../../http/heads.ts';
import type { TlsTerminationAtEdgeConfig, TlsTerminationConfig } from './module_schema.ts';
import { reasons } from './facts.ts';

type Code = keyof typeof reasons;
type Config = TlsTerminationAtEdgeConfig | TlsTerminationConfig;

const USUAL_PORT = 443;

/** Where TLS is terminated, and how requests without TLS are handled. */
export const tlsTermination: Module<Config, Code> = {
  type: 'tls_termination',
  reasons,
  compile: (config, linked) => {
    const terminated = pass('tls_termination.terminated');
    const plain = pass('tls_termination.plain');
    const passed = pass('tls_termination.passed');
    const redirects = 'redirect_http' in config && config.redirect_http;
    const isPassed = 'terminate_at' in config && config.terminate_at !== 'edge';
    return {
      onConnection: () => (isPassed ? passed : terminated),
      onRequest: (request, connection) => {
        if (request.scheme === 'http') return redirects ? redirected(request, connection, linked) : plain;
        return isTooOld(connection, config.min_version, linked) ? misdirected(linked) : terminated;
      },
    };
  },
};

function pass(code: Code): Pass<Code> {
  return { verdict: 'pass', reason: { code, detail: {} } };
}

/**
 * Whether the TLS version is older than this edge allows. Only possible if the handshake was for another name
 * on a connection that is reused for this host.
 */
function isTooOld({ tls }: Connection, minVersion: string, { edge }: Linked): boolean {
  if (tls === null || tls.edge === undefined || tls.edge === edge) return false;
  return tlsVersionNumber(tls.version) < Number(minVersion);
}

/** RFC 9110 §15.5.20: the client may retry on another connection. */
function misdirected({ refusal }: Linked): Stop<Code> {
  return {
    verdict: 'stop',
    reason: { code: 'tls_termination.misdirected', detail: {} },
    response: refusal(421, null, 'This connection was established for another host'),
  };
}

/** RFC 9110 §15.4.9: 308 keeps the method. */
function redirected(request: RequestHead, connection: Connection, { refusal }: Linked): Stop<Code> {
  const { httpsPort = USUAL_PORT } = connection;
  const port = httpsPort === USUAL_PORT ? '' : `:${httpsPort}`;
  const location = `https://${request.host}${port}${targetOf(request)}`;
  const page = refusal(308, null, 'This endpoint requires TLS');
  return {
    verdict: 'stop',
    reason: { code: 'tls_termination.redirected', detail: {} },
    response: { ...page, headers: [...page.headers, 'location', location] },
  };
}
