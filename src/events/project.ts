import type { Connection } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { Pipeline } from '../engine/pipeline.ts';
import { firstValueOf } from '../http/field_names.ts';
import { queryWithoutSecrets } from '../http/secrets.ts';
import { targetOf } from '../http/heads.ts';
import { formatTarget } from '../http/target.ts';
import { type HttpRequestComplete, type HttpRequestCompleteEvent, trafficEvent } from './catalogue.ts';
import { blockOrAllow, decisionOf, policyFacts } from './exchange_facts.ts';
import { normaliseHeaders } from './headers.ts';
import type { IdMaker } from './identifiers.ts';
import { redactEvent } from './redact_event.ts';
import { timestamp } from './timestamps.ts';

// Parts that most events have are shared, and never changed.
const NO_CLIENT_CERTIFICATE = { serial_number: '', subject: { cn: '' } };
const NO_TLS: HttpRequestComplete['tls'] = Object.freeze({
  cipher_suite: '',
  client_cert: NO_CLIENT_CERTIFICATE,
  version: '',
});
const REUSED: HttpRequestComplete['backend'] = Object.freeze({ connection_reused: true });
const NOT_REUSED: HttpRequestComplete['backend'] = Object.freeze({ connection_reused: false });
const NOT_COMPRESSED: HttpRequestComplete['compression'] = Object.freeze({
  algorithm: 'none',
  bytes_saved: 0,
});
const NO_BASIC_AUTH: HttpRequestComplete['basic_auth'] = Object.freeze({ decision: 'invalid', username: '' });
const NO_OAUTH: HttpRequestComplete['oauth'] = Object.freeze({
  app_client_id: '',
  decision: 'invalid',
  user: Object.freeze({ id: '', name: '' }),
});

/** An object for each decision of a module. */
const DECISIONS = {
  allow: Object.freeze({ decision: 'allow' }),
  block: Object.freeze({ decision: 'block' }),
  invalid: Object.freeze({ decision: 'invalid' }),
} as const;
const BREAKER_DECISIONS = {
  ...DECISIONS,
  allow_while_open: Object.freeze({ decision: 'allow_while_open' }),
} as const;

const userAgentOf = firstValueOf('user-agent');

const NOT_CONFIGURED: Pipeline['positionOf'] = {};

/** The event of a finished exchange. Everything in it was decided or measured before. */
export function projectHttpRequestComplete(
  exchange: Exchange,
  newId: IdMaker,
  endMs = exchange.world.nowMs(),
): HttpRequestCompleteEvent {
  return trafficEvent('http_request_complete.v0', httpRequestComplete(exchange), endMs, newId);
}

/** The `object` of the event; secrets read by policies are redacted. */
export function httpRequestComplete(exchange: Exchange): HttpRequestComplete {
  const seen = projected(exchange);
  const redact = exchange.configuration.redactor();
  return redact === null ? seen : redactEvent('http_request_complete.v0', seen, redact);
}

function projected(exchange: Exchange): HttpRequestComplete {
  const { head, connection, sent, response } = exchange;
  const attempts = exchange.attempts;
  const last = attempts.length === 0 ? undefined : attempts[attempts.length - 1];
  const query = head.query === undefined ? undefined : queryWithoutSecrets(head.query, head.path);
  const target = query === head.query ? targetOf(head) : formatTarget(head.path, query);
  const at = exchange.pipeline === null ? NOT_CONFIGURED : exchange.pipeline.positionOf;
  return {
    backend: last !== undefined && last.reused ? REUSED : NOT_REUSED,
    basic_auth: NO_BASIC_AUTH,
    circuit_breaker: BREAKER_DECISIONS[decisionOf(exchange, at['circuit_breaker'])],
    compression:
      exchange.compress === null
        ? NOT_COMPRESSED
        : {
            algorithm: namedCoding(exchange.compress),
            bytes_saved: sent === null ? 0 : sent.rawResponseBytes - sent.responseBytes,
          },
    conn: connectionFacts(connection, head.host),
    http: {
      request: {
        body_length: sent === null ? 0 : sent.requestBytes,
        headers: normaliseHeaders(head.headers),
        method: head.method === 'GET' ? 'get' : head.method.toLowerCase(),
        url: {
          host: head.host,
          path: head.path,
          query: query ?? '',
          raw: `${head.scheme}://${head.authority}${target}`,
          scheme: head.scheme,
        },
        user_agent: userAgentOf(head.headers) ?? '',
      },
      response: {
        body_length: sent === null ? 0 : sent.responseBytes,
        headers: response === null ? {} : normaliseHeaders(response.headers),
        status_code: response === null ? 0 : response.status,
      },
    },
    ip_policy: DECISIONS[blockOrAllow(decisionOf(exchange, at['ip_restriction']))],
    oauth: at['oauth'] === undefined ? NO_OAUTH : oauthFacts(exchange, at['oauth']),
    tls: connection.tls === null ? NO_TLS : tlsFacts(connection.tls),
    traffic_policy: policyFacts(exchange),
    webhook_verification: DECISIONS[blockOrAllow(decisionOf(exchange, at['webhook_verification']))],
  };
}

function oauthFacts(exchange: Exchange, index: number): HttpRequestComplete['oauth'] {
  return {
    app_client_id: detailOf(exchange, index, 'client_id'),
    decision: blockOrAllow(decisionOf(exchange, index)),
    user: {
      id: detailOf(exchange, index, 'user_id'),
      name: detailOf(exchange, index, 'user_name'),
    },
  };
}

function tlsFacts({
  cipherSuite,
  clientCertificate,
  version,
}: NonNullable<Connection['tls']>): HttpRequestComplete['tls'] {
  return {
    cipher_suite: cipherSuite,
    client_cert:
      clientCertificate === null
        ? NO_CLIENT_CERTIFICATE
        : {
            serial_number: clientCertificate.serialNumber,
            subject: { cn: clientCertificate.subjectCn },
          },
    version,
  };
}

/** The codings that the specification names. */
function namedCoding(coding: Exchange['compress']): HttpRequestComplete['compression']['algorithm'] {
  return coding === 'gzip' || coding === 'deflate' ? coding : 'none';
}

function connectionFacts(connection: Connection, host: string): HttpRequestComplete['conn'] {
  return {
    client_ip: connection.client.text,
    server_ip: connection.serverIp,
    server_name: connection.serverName === '' ? host : connection.serverName,
    server_port: connection.serverPort,
    start_ts: timestamp(connection.startMs),
  };
}

/** A text in the detail of a module's verdict; empty if the module did not run or the detail is absent. */
function detailOf({ verdicts }: Exchange, index: number, name: string): string {
  const told = verdicts[index]?.reason.detail[name];
  return typeof told === 'string' ? told : '';
}
