import type { TlsFacts } from '../../engine/contract.ts';
import { connectionFor, statedConnection, headOf } from '../../engine/request_like.ts';
import type { FieldList } from '../../http/fields.ts';
import { type CompiledCase } from '../compile_case.ts';
import { DEFAULT_START_MS, defaultHost } from '../case_setting.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { tunnelGroups } from '../document/agents.ts';
import type { AgentConfig, UpstreamConfig } from '../document/schema.ts';
import type { Identity } from '../../dev_idp/identities.ts';
import { readHostport } from '../../edge/compile_filters.ts';
import type { PreparedConnection } from '../document/connections.ts';
import type { PreparedRequest } from '../simulator.ts';

/** A candidate case: a request, and the world that it is sent in. All of it can be written to a scenario. */
export interface Draft {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly path: string;
  readonly query: string | undefined;
  /** Fields except those that follow from host and body. */
  readonly headers: FieldList;
  readonly body: string;
  readonly ip: string;
  /** Null for the usual facts. */
  readonly tls: TlsFacts | null;
  /** Facts as in an edge file; `variables` come after them. */
  readonly facts: readonly unknown[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly startMs: number;
  readonly seed: number | string;
  readonly upstreams: Readonly<Record<string, UpstreamConfig>>;
  readonly agents: Readonly<Record<string, AgentConfig>>;
  /** Requests before this one; null for none. */
  readonly before: Before | null;
  /** Identity whose browser sends it; null for none. */
  readonly as: Visitor | null;
  /** The connection to a TLS or TCP edge that replaces the request; null for a request. */
  readonly connect: ConnectDraft | null;
}

/** A user who logs in if a gate requires it. */
export interface Visitor {
  readonly name: string;
  /** As identities in scenarios. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The target of a connection. */
export interface ConnectDraft {
  readonly kind: 'tls' | 'tcp';
  readonly host: string;
  readonly port: number;
}

/** The same request, sent many times before, and the time until it is sent again. */
export interface Before {
  readonly count: number;
  readonly everyMs: number;
  /** Responses of upstreams meanwhile. */
  readonly upstreams: Readonly<Record<string, UpstreamConfig>>;
  readonly thenMs: number;
  /** Address that they come from; absent for the same. */
  readonly ip?: string;
}

/** A plain request for a path of the edge. */
export function plainDraft(config: EdgeConfig, path = '/'): Draft {
  return {
    method: 'GET',
    scheme: 'https',
    host: defaultHost(config),
    path,
    query: undefined,
    headers: [],
    body: '',
    ip: '203.0.113.9',
    tls: null,
    facts: [],
    variables: {},
    startMs: DEFAULT_START_MS,
    seed: 1,
    upstreams: {},
    agents: onlineAgents(config),
    before: null,
    as: null,
    connect: null,
  };
}

/** An agent for every backend that asks for one; it has the name of the backend. */
export function onlineAgents(config: EdgeConfig): Draft['agents'] {
  return Object.fromEntries(tunnelGroups(config).map(([name, labels]) => [name, { labels }]));
}

/** A plain connection to one hostport of an edge. */
export function connectDraft(config: EdgeConfig, kind: ConnectDraft['kind'], hostport: string): Draft {
  const { host, port } = readHostport(hostport.replace('*', 'any'));
  return { ...plainDraft(config), connect: { kind, host, port } };
}

export const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding']);

/** The draft of a prepared request; null if an edge would refuse it. */
export function draftOf(request: PreparedRequest, from: Partial<Draft>, config: EdgeConfig): Draft | null {
  const { head, connection, body } = request;
  if ('refused' in head) return null;
  const headers: string[] = [];
  for (let at = 0; at < head.headers.length; at += 2) {
    const name = head.headers[at]!.toLowerCase();
    if (!FRAMING.has(name)) headers.push(name, head.headers[at + 1]!);
  }
  return {
    ...plainDraft(config),
    method: head.method,
    scheme: head.scheme,
    host: head.authority,
    path: head.path,
    query: head.query,
    headers,
    body: new TextDecoder().decode(body),
    ip: connection.client.text,
    tls: connection.tls,
    ...from,
  };
}

/** The drafts of a case: one for each of its requests, in the world of the case. */
export function draftsOfCase(compiled: CompiledCase, config: EdgeConfig): Draft[] {
  const { plan, facts, startMs, seed, knownAgents, identities } = compiled;
  const from = { facts, startMs, seed, agents: Object.fromEntries(knownAgents) };
  if (plan.kind === 'connect') {
    const { place, connection } = plan.connection;
    return [
      { ...plainDraft(config), ...from, ip: connection.client.text, tls: connection.tls, connect: place },
    ];
  }
  const requests =
    plan.kind === 'timeline'
      ? plan.steps.flatMap(({ request }) => (request === null ? [] : [request]))
      : 'request' in plan
        ? [plan.request]
        : [];
  return requests.flatMap((request) => {
    const visitor = identities?.find(({ key }) => key === request.as);
    const as = visitor === undefined ? null : { name: visitor.key, facts: writtenIdentity(visitor) };
    return draftOf(request, { ...from, as }, config) ?? [];
  });
}

/** The prepared request of a draft; null if it is not valid. */
export function preparedDraft(draft: Draft): PreparedRequest | null {
  const { method, scheme, host, path, query, headers, body, ip, tls } = draft;
  const bytes = new TextEncoder().encode(body);
  const pairs: [string, string][] = [];
  for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at]!, headers[at + 1]!]);
  if (bytes.length > 0) pairs.push(['content-length', String(bytes.length)]);
  try {
    const url = `${scheme}://${host}${path}${query === undefined ? '' : `?${query}`}`;
    const head = headOf({ method, url, headers: pairs });
    const facts = { clientIp: ip, clientPort: 50_000, ...(tls !== null && { tls }) };
    const connection = connectionFor(head, facts);
    const as = draft.as === null ? {} : { as: draft.as.name };
    return { head, connection, body: bytes, leaveAfterMs: -1, ...as };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

/** The prepared connection of a draft. */
export function preparedConnection({ connect, ip, tls }: Draft): PreparedConnection | null {
  if (connect === null) return null;
  const { kind, host, port } = connect;
  const facts = {
    clientIp: ip,
    serverPort: port,
    serverName: host,
    ...(kind === 'tls' && { tls: { ...tls, negotiatedAlpn: '' } }),
  };
  return {
    place: connect,
    connection: statedConnection(facts, 'https'),
    sendsBytes: 0,
    receivesBytes: 0,
  };
}

/** An identity in the form of a scenario. */
export function writtenIdentity(identity: Identity): Visitor['facts'] {
  const { id, name, email, emailVerified, groups, organizations, teams, active, misbehave } = identity;
  const lists = Object.entries({ groups, organizations, teams }).filter(([, list]) => list.length > 0);
  return {
    id,
    name,
    email,
    ...Object.fromEntries(lists),
    ...(!emailVerified && { email_verified: false }),
    ...(!active && { active: false }),
    ...(misbehave !== null && { misbehave }),
  };
}

/** Responses of upstreams to the final request: those that failed before have recovered. */
export function answersOf({ before, upstreams }: Draft): Draft['upstreams'] {
  const well = Object.keys(before?.upstreams ?? {}).map((name) => [name, 200] as const);
  return { ...Object.fromEntries(well), ...upstreams };
}

/** How earlier requests differ, in words. */
export function beforeText({ upstreams, ip }: Before): string {
  const failing = Object.keys(upstreams).length > 0 ? ' that fail' : '';
  return ip === undefined ? failing : `${failing} from ${ip}`;
}

/** All facts of a draft, in the form of an edge file. */
export function factsOf({ facts, variables }: Draft): readonly unknown[] {
  return Object.keys(variables).length === 0 ? facts : [...facts, { variables }];
}
