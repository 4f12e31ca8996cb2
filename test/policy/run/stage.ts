import type { Connection, Handler, RequestHead, World } from '../../../src/engine/contract.ts';
import type { AnswerTo, Answers, Question } from '../../../src/engine/questions.ts';
import { Exchange, type HttpConfiguration } from '../../../src/engine/exchange.ts';
import type { Linked, LinkedRule } from '../../../src/engine/module.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { type Pipeline, pipelineOf, compiledFilter } from '../../../src/engine/pipeline.ts';
import { refusal } from '../../../src/engine/refusals.ts';
import { answer, start } from '../../../src/engine/run.ts';
import { NO_FACTS } from '../../../src/policy/env/facts.ts';
import { type PolicyLinks, trafficPolicy } from '../../../src/policy/module.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { parseCidr, isCidrProblem } from '../../../src/net/cidr.ts';
import type { PolicyContext } from '../../../src/filters/action.ts';
import { compilePolicy } from '../../../src/policy/compile.ts';
import type { CompiledPolicy } from '../../../src/policy/compiled.ts';
import { checkPolicy } from '../../../src/policy/document/check.ts';

export const NAMING = brandingOf('service');
/** A configuration of one route, without secrets. */
export const ALONE: HttpConfiguration = {
  branding: NAMING,
  redactor: () => null,
  cookies: null,
  beginInside: null,
};

/** A request as cases describe it. */
export interface Given {
  readonly method?: string;
  readonly scheme?: 'http' | 'https';
  readonly host?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: readonly string[];
  readonly client?: string;
  readonly body?: string;
}

export function headOf(given: Given): RequestHead {
  const { method = 'GET', scheme = 'https', host = 'a.example', path = '/', query, headers = [] } = given;
  return {
    method,
    scheme,
    host,
    authority: host,
    path,
    query,
    sentTarget: path,
    version: '1.1',
    headers: ['Host', host, ...headers],
  };
}

export function connectionOf({ client = '203.0.113.7', host = 'a.example' }: Given): Connection {
  return {
    client: parseAddress(client)!,
    clientPort: 40_000,
    serverIp: '192.0.2.1',
    serverPort: 443,
    serverName: host,
    startMs: 0,
    tls: { version: 'TLSv1.3', cipherSuite: 'TLS_AES_128_GCM_SHA256', clientCertificate: null },
  };
}

/** A clock that moves only when it is set, and random numbers from a list. */
export function steadyWorld(chance: readonly number[] = [0.5]): World & { nowAtMs: number } {
  let drawn = 0;
  return {
    nowAtMs: 1_700_000_000_000,
    nowMs() {
      return this.nowAtMs;
    },
    random: () => chance[drawn++ % chance.length]!,
  };
}

const IP_POLICIES: Readonly<Record<string, readonly LinkedRule[]>> = {
  office: [ruleOf('allow', '198.51.100.0/24'), ruleOf('deny', '198.51.100.66/32')],
};

function ruleOf(action: 'allow' | 'deny', text: string): LinkedRule {
  const cidr = parseCidr(text);
  if (isCidrProblem(cidr)) throw new Error(cidr.message);
  return { action, cidr };
}

const SECRETS: Readonly<Record<string, string>> = {
  'vault/password': 'open:sesame!',
  'vault/token': 'token-1',
};

const LINKS: Required<Pick<PolicyLinks, 'facts' | 'secret' | 'isInternal' | 'isInternalAddress'>> = {
  facts: NO_FACTS,
  secret: (vault, name) => SECRETS[`${vault}/${name}`],
  isInternal: (host) => host === 'inner.internal',
  isInternalAddress: ({ kind, host, port }) => `${kind}://${host}:${port}` === 'tls://inner.internal:443',
};

export const CONTEXT: PolicyContext = {
  branding: NAMING,
  surroundings: () => SURROUNDINGS,
  ipPolicy: (id) => IP_POLICIES[id] ?? [],
  refusal: (status, code, message) => refusal(NAMING, status, code, message),
  isInternal: LINKS.isInternal,
  isInternalAddress: LINKS.isInternalAddress,
  allowPrivateFetch: false,
  passUnsimulated: false,
  trace: 'decided',
};

const SURROUNDINGS = {
  endpoint: { id: 'ep', host: 'a.example', port: 443, protocol: 'https' as const },
  facts: NO_FACTS,
  secret: LINKS.secret,
};

/** Checks and compiles a text; any finding fails the test. */
export function policyOf(
  text: string,
  context: Partial<PolicyContext> = {},
  options: Parameters<typeof compilePolicy>[2] = {},
): CompiledPolicy {
  const { branding = NAMING } = context;
  const { document, diagnostics } = checkPolicy({ name: 'policy.yml', text }, { branding });
  if (document === null)
    throw new Error(diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return compilePolicy(document, { ...CONTEXT, ...context }, options);
}

/** A route with nothing but the policy and one upstream. */
export interface Route {
  readonly pipeline: Pipeline;
  readonly world: World & { nowAtMs: number };
}

const LEAF = { kind: 'static', id: 'up', host: '127.0.0.1', port: 1, tls: false } as const;

const BACKEND: Handler = {
  onRequest: () => ({
    verdict: 'pass',
    reason: { code: 'backend.chosen', detail: {} },
    edits: [{ edit: 'backend', candidates: [LEAF] }],
  }),
};

export function routeOf(value: string, links: PolicyLinks = {}, chance?: readonly number[]): Route {
  const linked: Linked & PolicyLinks = {
    branding: NAMING,
    pointer: '/policy',
    ipPolicy: CONTEXT.ipPolicy,
    backend: () => {
      throw new Error('a policy has no backend');
    },
    refusal: CONTEXT.refusal,
    ...LINKS,
    ...links,
  };
  const handler = trafficPolicy.compile({ enabled: true, value }, linked);
  const slots = [
    compiledFilter(
      { type: 'traffic_policy', pointer: '/policy', config: null },
      trafficPolicy.reasons,
      handler,
      handler.initial?.(() => 'policy') ?? null,
    ),
    compiledFilter({ type: 'backend', pointer: '/backend', config: null }, {}, BACKEND, null),
  ];
  const facts = {
    route: 'r',
    edge: 'e',
    match: '/',
    matchType: 'path_prefix',
    pointer: '',
    branding: NAMING,
  } as const;
  return { pipeline: pipelineOf(facts, slots), world: steadyWorld(chance) };
}

/** The scripted answers. */
export interface Script {
  readonly upstream?: {
    readonly status?: number;
    readonly headers?: readonly string[];
    readonly body?: string;
    readonly failure?: 'connect' | 'timeout';
  };
  readonly fetch?: (question: Extract<Question, { ask: 'fetch' }>) => Answers['fetch'];
}

/** A finished exchange, with every question that was asked. */
export interface Played {
  readonly exchange: Exchange;
  readonly asked: readonly Question[];
  readonly reply: Extract<Question, { ask: 'reply' }>['reply'];
}

export function play({ pipeline: rules, world }: Route, given: Given, script: Script = {}): Played {
  const reason = { code: 'route.matched', detail: {} } as const;
  const exchange = new Exchange(ALONE, connectionOf(given), headOf(given), world, rules, reason);
  const asked: Question[] = [];
  let question = start(exchange);
  while (question !== null) {
    asked.push(question);
    question = answer(exchange, answerTo(exchange, question, given, script));
  }
  const last = asked.at(-1);
  if (last?.ask !== 'reply') throw new Error('the exchange ended without a reply');
  return { exchange, asked, reply: last.reply };
}

function answerTo(
  { body }: Exchange,
  question: Question,
  given: Given,
  { upstream = {}, fetch }: Script,
): AnswerTo<Question> {
  switch (question.ask) {
    case 'body':
      return limited(given.body ?? '', question.limitBytes);
    case 'forward':
      if (upstream.failure !== undefined) return { failure: upstream.failure, detail: '' };
      return { head: { status: upstream.status ?? 200, headers: upstream.headers ?? [] }, reused: false };
    case 'response_body':
      // The current body, which may differ from the upstream's.
      if (body === 'upstream') return limited(upstream.body ?? '', question.limitBytes);
      return 'text' in body ? limited(body.text, question.limitBytes) : body;
    case 'fetch':
      return fetch?.(question) ?? { failure: 'connect', detail: 'nothing listens' };
    case 'oidc':
      return { failure: 'unreachable', detail: 'nothing listens' };
    case 'signature':
      return { failure: 'unavailable', detail: 'the stage verifies nothing' };
    case 'shared':
      return { unavailable: 'local', detail: 'the stage shares nothing' };
    case 'reply':
      return { requestBytes: 0, responseBytes: 0, rawResponseBytes: 0, cut: 'none' };
  }
}

function limited(text: string, limitBytes: number): Answers['body'] {
  const bytes = Buffer.from(text);
  return bytes.length > limitBytes ? { failure: 'too_large' } : { bytes };
}
