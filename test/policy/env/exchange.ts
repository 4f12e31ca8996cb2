import { compile, type Outcome } from '../../../src/cel/index.ts';
import { Activation } from '../../../src/policy/env/activation.ts';
import { NO_FACTS } from '../../../src/policy/env/facts.ts';
import type {
  ConnectionInput,
  RequestInput,
  ResponseInput,
  Surroundings,
} from '../../../src/policy/env/inputs.ts';
import { type Place, scopeFor } from '../../../src/policy/env/scopes.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { seeded } from '../../random.ts';

export const CONNECTION: ConnectionInput = {
  client: parseAddress('203.0.113.7')!,
  clientPort: 50_123,
  serverIp: '198.51.100.1',
  serverPort: 443,
  serverName: 'shop.example',
  startMs: Date.parse('2026-02-03T04:05:06.250Z'),
  tls: { version: 'TLSv1.3', cipherSuite: 'TLS_AES_128_GCM_SHA256', clientCertificate: null },
};

export const REQUEST: RequestInput = {
  method: 'GET',
  scheme: 'https',
  host: 'shop.example',
  authority: 'shop.example',
  path: '/v1/things',
  query: 'page=2&tag=a+b&tag=c',
  sentTarget: '/v1//th%69ngs?page=2&tag=a+b&tag=c',
  version: '1.1',
  headers: [
    'Host',
    'shop.example',
    'X-Team',
    'blue',
    'x-team',
    'green',
    'Cookie',
    'lane=beta; lane=old; theme="dark"',
    'User-Agent',
    'curl/8.5.0',
    'Content-Type',
    'application/JSON; charset="utf-8"',
  ],
};

export const RESPONSE: ResponseInput = {
  status: 200,
  headers: [
    'content-type',
    'text/html; charset=utf-8',
    'set-cookie',
    'session=1; Path=/',
    'set-cookie',
    'session=2; Path=/app; Secure; HttpOnly; SameSite=Lax; Max-Age=90; Partitioned',
  ],
};

const SURROUNDINGS: Surroundings = {
  endpoint: { id: 'ep_1', host: 'shop.example', port: 443, protocol: 'https' },
  facts: NO_FACTS,
  secret: (vault, name) => (vault === 'demo' && name === 'token' ? 's3cret' : undefined),
};

export interface Given {
  readonly surroundings?: Partial<Surroundings>;
  readonly connection?: Partial<ConnectionInput>;
  readonly request?: Partial<RequestInput>;
  readonly response?: Partial<ResponseInput>;
  readonly seed?: number;
}

/** An activation of all phases at a fixed time. */
export function activation(given: Given = {}): Activation {
  return new Activation(
    { nowMs: () => Date.parse('2026-02-03T04:05:07.5Z'), random: seeded(given.seed ?? 1) },
    { ...SURROUNDINGS, ...given.surroundings },
    { ...CONNECTION, ...given.connection },
    { ...REQUEST, ...given.request },
    { ...RESPONSE, ...given.response },
  );
}

/** The value of an expression, or the codes of its errors. */
export function evaluate(
  source: string,
  at: Activation = activation(),
  place: Place = 'on_http_response',
): Outcome {
  const { program, diagnostics } = compile(source, scopeFor(place));
  if (program === undefined)
    throw new Error(`${source}: ${diagnostics.map((one) => one.message).join('; ')}`);
  return program.evaluate(at);
}

/** The findings of an expression. */
export function findings(source: string, place: Place = 'on_http_response'): readonly string[] {
  return compile(source, scopeFor(place)).diagnostics.map(
    (one) => `${one.severity} ${one.code}: ${one.message}`,
  );
}

/** The outcome of each expression, by its source. */
export function valuesOf(sources: readonly string[], at: Activation = activation()): Record<string, Outcome> {
  return Object.fromEntries(sources.map((source) => [source, evaluate(source, at)]));
}

/** Those of the expressions that are not true. */
export function untrue(sources: readonly string[], at: Activation = activation()): readonly string[] {
  return sources.filter((source) => evaluate(source, at) !== true);
}
