import { readMatch } from '../../edge/compile.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { isCidrProblem, parseCidr } from '../../net/cidr.ts';
import { parseAddress } from '../../net/address.ts';
import type { WatchedExpression } from '../../coverage/expressions.ts';
import { boundariesOf } from '../../coverage/ip_points.ts';
import type { Signer } from '../document/requests.ts';
import { type GatePools, gatePools } from './gate_pools.ts';
import { placedAll, placedRoutes } from '../../coverage/placed_routes.ts';
import { besidePath } from '../../coverage/points.ts';
import { policyOf, rulesOf } from '../../coverage/policy_points.ts';
import { dialledBackends } from '../case_setting.ts';
import { type Asked, askedBy, has } from './constants.ts';
import { bodiesOf } from './bodies.ts';
import { type Before, FRAMING } from './draft.ts';
import { sampleTexts } from './patterns.ts';
import { statefulBefores } from './stateful.ts';

/** Values worth trying, by field: those in the configuration, and their neighbours. */
export interface Pools {
  readonly hosts: ReadonlySet<string>;
  /** Both if an edge distinguishes them. */
  readonly schemes: ReadonlySet<'http' | 'https'>;
  readonly methods: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
  readonly addresses: ReadonlySet<string>;
  /** Null for no user agent. */
  readonly agents: ReadonlySet<string | null>;
  readonly headers: ReadonlyMap<string, ReadonlySet<string | null>>;
  readonly parameters: ReadonlyMap<string, ReadonlySet<string | null>>;
  readonly cookies: ReadonlyMap<string, ReadonlySet<string | null>>;
  /** Values of variables that come from facts. */
  readonly facts: ReadonlyMap<string, ReadonlySet<unknown>>;
  /** Common names of client certificates; null for no certificate. Empty if no certificate is requested. */
  readonly certificates: ReadonlySet<string | null>;
  readonly bodies: ReadonlySet<string>;
  readonly startsMs: ReadonlySet<number>;
  readonly seeds: number;
  /** Responses of all upstreams. */
  readonly answers: readonly Answer[];
  readonly backends: readonly string[];
  readonly befores: readonly Before[];
  readonly gates: GatePools;
}

/** A response of an upstream, as in a scenario. */
export type Answer =
  | number
  | string
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** The values in a configuration and its expressions. */
export function poolsOf(
  config: EdgeConfig,
  expressions: Iterable<WatchedExpression>,
  signer: Signer | null = null,
): Pools {
  const asked = Array.from(expressions, ({ program }) => askedBy(program));
  const routes = placedAll(config);
  const actions = routes.flatMap((placed) => {
    const policy = policyOf(placed, config);
    return policy === null ? [] : rulesOf(policy, placed.kind).flatMap((rule) => rule.actions);
  });
  const gates = gatePools(config, routes, actions, {
    signer,
    texts: asked.flatMap((each) => each.texts),
  });
  const isRandom = asked.some((each) => each.isRandom);
  const isWeighted = Object.values(config.backends).some(({ weighted }) => weighted !== undefined);
  const backends = dialledBackends(config);
  return {
    hosts: new Set([...hostsOf(config), ...textsFor(asked, /^req\.(?:host|url\.(?:host|authority))$/)]),
    schemes: schemesOf(config, asked),
    methods: new Set(['GET', 'POST', 'OPTIONS', 'DELETE', ...textsFor(asked, /^req\.method$/)]),
    paths: new Set([...pathsOf(config), ...pathsAsked(asked), ...gates.reserved]),
    addresses: addressesOf(config, asked, actions),
    agents: agentsOf(config, asked),
    headers: headersOf(config, asked, actions, gates.isAskedForPages),
    parameters: namedPool(asked, 'parameter'),
    cookies: namedPool(asked, 'cookie'),
    facts: factsAsked(asked),
    certificates: certificatesOf(config, asked),
    bodies: bodiesOf(asked),
    startsMs: startsOf(asked),
    seeds: isRandom || isWeighted ? SEEDS : 0,
    answers: answersOf(config, asked),
    backends,
    befores: [...statefulBefores(config, actions, backends), ...gates.befores],
    gates,
  };
}

const SEEDS = 40;

/** Constants that expressions compare a variable with, and texts that their patterns match. */
function textsFor(asked: readonly Asked[], variable: RegExp): string[] {
  const found: string[] = [];
  for (const { variables, texts, patterns } of asked) {
    if (!has(variables, variable)) continue;
    for (const pattern of patterns) found.push(...sampleTexts(pattern));
    found.push(...texts.filter((text) => !patterns.includes(text)));
  }
  return found;
}

function hostsOf({ edges }: EdgeConfig): string[] {
  return Object.values(edges.https)
    .flatMap(({ hostports }) => hostports)
    .map((hostport) => hostport.replace(/:\d+$/, '').replace('*', 'any'))
    .filter((host) => !host.endsWith('.internal'));
}

function pathsOf(config: EdgeConfig): string[] {
  return placedRoutes(config).flatMap(({ route }) => {
    const { path } = readMatch(route.match);
    const below = path.endsWith('/') ? `${path}x` : `${path}/x`;
    return path === '/' ? [path, below] : [path, below, besidePath(path)];
  });
}

function pathsAsked(asked: readonly Asked[]): string[] {
  const texts = textsFor(asked, /^req\.url(?:\.path|\.raw.*)?$/);
  const rooted = texts
    .filter((text) => text !== '')
    .map((text) => (text.startsWith('/') ? text : `/${text}`));
  return [...new Set(rooted)].flatMap((path) =>
    /[\s?#]/.test(path) ? [] : [path, `${path}x`, `/x${path}`, `${path.replace(/\/$/, '')}/x`],
  );
}

type Actions = readonly { readonly type: string; readonly config: unknown }[];

function addressesOf(config: EdgeConfig, asked: readonly Asked[], actions: Actions): Set<string> {
  const written = [
    ...Object.values(config.ip_policies).flatMap(({ rules }) => rules.map(({ cidr }) => cidr)),
    ...textsFor(asked, /^conn\.client_ip/),
    ...actions.flatMap(({ type, config: own }) => {
      if (type !== 'restrict-ips') return [];
      const { allow, deny } = own as { readonly allow: readonly string[]; readonly deny: readonly string[] };
      return [...allow, ...deny];
    }),
  ];
  const found = new Set<string>();
  for (const text of written) {
    const address = parseAddress(text);
    if (address !== null) found.add(address.text);
    const cidr = parseCidr(text);
    if (!isCidrProblem(cidr)) for (const boundary of boundariesOf(cidr)) found.add(boundary.text);
  }
  return found;
}

function agentsOf({ edges }: EdgeConfig, asked: readonly Asked[]): Set<string | null> {
  const patterns = Object.values(edges.https).flatMap(({ routes }) =>
    routes.flatMap(({ user_agent_filter: filter }) => [...(filter?.allow ?? []), ...(filter?.deny ?? [])]),
  );
  const texts = textsFor(asked, /^req\.user_agent/);
  if (patterns.length === 0 && texts.length === 0) return new Set();
  return new Set([...patterns.flatMap((pattern) => sampleTexts(pattern)), ...texts, 'Mozilla/5.0', null]);
}

function namedPool(asked: readonly Asked[], part: keyof Asked['names']): Map<string, Set<string | null>> {
  const pool = new Map<string, Set<string | null>>();
  for (const { names, texts, patterns } of asked) {
    for (const name of names[part]) {
      const values = pool.get(name) ?? new Set([null, 'x']);
      pool.set(name, values);
      for (const text of texts) if (text.toLowerCase() !== name) values.add(text);
      for (const pattern of patterns) for (const text of sampleTexts(pattern)) values.add(text);
    }
  }
  return pool;
}

function headersOf(
  config: EdgeConfig,
  asked: readonly Asked[],
  actions: Actions,
  isAskedForPages: boolean,
): Map<string, Set<string | null>> {
  const pool = namedPool(asked, 'header');
  const add = (name: string, values: readonly (string | null)[]): void => {
    pool.set(name, new Set([...(pool.get(name) ?? [null]), ...values]));
  };
  const types = textsFor(asked, /^req\.content_type/);
  if (types.length > 0) add('content-type', types);
  if (isAskedForPages) add('accept', ['application/json', 'text/html']);
  const compresses =
    placedRoutes(config).some(({ route }) => route.compression !== undefined) ||
    actions.some(({ type }) => type === 'compress-response');
  if (compresses) add('accept-encoding', ['gzip', 'br', 'identity']);
  for (const { type, config: own } of actions) {
    if (type !== 'basic-auth') continue;
    const { credentials = [] } = own as { readonly credentials?: readonly unknown[] };
    const plain = credentials.filter((each): each is string => typeof each === 'string');
    add('authorization', [...plain.map((each) => `Basic ${btoa(each)}`), `Basic ${btoa('nobody:nothing')}`]);
  }
  // They follow from the body and the URL of a request.
  for (const name of FRAMING) pool.delete(name);
  return pool;
}

const FACT = /^conn\.(?:geo|server_region|client_ip\.\w+|tls\.ja4|k8s)/;

/** Values of each fact in expressions; for a string, its constants and one other value. */
function factsAsked(asked: readonly Asked[]): Map<string, Set<unknown>> {
  const pool = new Map<string, Set<unknown>>();
  for (const { variables, texts, numbers } of asked) {
    for (const name of [...variables].filter((each) => FACT.test(each))) {
      // `conn.client_ip.as` in `conn.client_ip.as.number` is not a value.
      if ([...variables].some((other) => other.startsWith(`${name}.`))) continue;
      const values = pool.get(name) ?? new Set<unknown>();
      pool.set(name, values);
      if (/\.(?:is_\w+|session_resumed)$/.test(name)) for (const value of [true, false]) values.add(value);
      else if (name.endsWith('.number')) for (const value of [...numbers, 0]) values.add(value);
      else if (name.endsWith('.categories')) for (const text of texts) values.add([text]);
      else for (const text of [...texts, 'XX']) values.add(text);
    }
  }
  return pool;
}

function certificatesOf({ edges }: EdgeConfig, asked: readonly Asked[]): Set<string | null> {
  const texts = textsFor(asked, /^conn\.tls\.client/);
  const isAsked =
    asked.some(({ variables }) => has(variables, /^conn\.tls\.client/)) ||
    [...Object.values(edges.https), ...Object.values(edges.tls)].some(
      (edge) => edge.mutual_tls !== undefined,
    );
  return isAsked ? new Set([null, ...texts, 'client']) : new Set();
}

function schemesOf({ edges }: EdgeConfig, asked: readonly Asked[]): Pools['schemes'] {
  const isTold =
    asked.some(({ variables }) => has(variables, /^req\.url\.scheme|^conn\.tls/)) ||
    Object.values(edges.https).some(
      ({ tls_termination: tls, mutual_tls: mutual }) => tls !== undefined || mutual !== undefined,
    );
  return new Set(isTold ? ['http', 'https'] : []);
}

const HOUR_MS = 3_600_000;
const DAYS = 7;

/** Times around those in expressions; hours and days of the week if one reads the time at all. */
function startsOf(asked: readonly Asked[]): Set<number> {
  const timed = asked.filter((each) => each.isTimed);
  const moments = timed.flatMap(({ texts }) =>
    texts.filter(isTime).flatMap((text) => [Date.parse(text) - 1, Date.parse(text), Date.parse(text) + 1]),
  );
  if (timed.length === 0) return new Set();
  const base = Date.UTC(2026, 0, 1);
  const hours = Array.from({ length: 24 }, (_hour, hour) => base + hour * HOUR_MS);
  const days = Array.from({ length: DAYS }, (_day, day) => base + day * 24 * HOUR_MS);
  return new Set([...moments, ...hours, ...days]);
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
}

function answersOf(config: EdgeConfig, asked: readonly Asked[]): Answer[] {
  const statuses = asked
    .filter(({ variables }) => has(variables, /^res\.status_code/))
    .flatMap(({ numbers }) => numbers.flatMap((status) => [status - 1, status, status + 1]));
  const named = Array.from(namedPool(asked, 'response_header'), ([name, values]) =>
    [...values].flatMap((value): Answer[] => (value === null ? [] : [{ headers: { [name]: value } }])),
  ).flat();
  const types = textsFor(asked, /^res\.content_type/).map((type): Answer => ({
    headers: { 'content-type': type },
    body: 'data: x\n\n',
  }));
  const isCompressing = placedRoutes(config).some(({ route }) => route.compression !== undefined);
  const text = { 'content-type': 'text/plain' };
  const body = 'hello hello';
  const packed: Answer[] = isCompressing
    ? [
        { headers: text, body },
        { headers: { ...text, 'content-encoding': 'gzip' }, body },
        { headers: { ...text, 'cache-control': 'no-transform' }, body },
        { status: 206, headers: { ...text, 'content-range': 'bytes 0-10/4000' }, body },
        { headers: { 'content-type': 'image/png' }, body },
        204,
      ]
    : [];
  const valid = statuses.filter((status) => status >= 101 && status <= 599);
  return [500, 'refuse', ...valid, ...named, ...types, ...packed];
}
