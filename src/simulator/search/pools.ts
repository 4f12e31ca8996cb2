import { readMatch } from '../../edge/router.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { compilePatternSet, isPatternSet } from '../../regex/pattern_set.ts';
import type { WatchedExpression } from '../../coverage/expressions.ts';
import type { Samples } from '../../filters/fact_values.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import type { Signer } from '../document/requests.ts';
import { type GatePools, gatePools } from './gate_pools.ts';
import { modulesOf, placedAll, placedRoutes } from '../../coverage/placed_routes.ts';
import { besidePath } from '../../coverage/points.ts';
import { policyOf, rulesOf } from '../../coverage/policy_points.ts';
import { dialledBackends } from '../case_setting.ts';
import { type Answer, answersOf, removedFields } from './answer_pools.ts';
import { type Actions, addressesOf, certificatesOf, factsAsked, schemesOf } from './connection_pools.ts';
import { type Asked, askedBy, has, namedPool, textsFor } from './constants.ts';
import { type Before, type Draft, FRAMING, onlineAgents } from './draft.ts';
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
  /** Agents that can be offline, by name. */
  readonly tunnelAgents: Draft['agents'];
  readonly befores: readonly Before[];
  readonly gates: GatePools;
}

/** Nothing to try. */
export const NO_POOLS: Pools = {
  hosts: new Set(),
  schemes: new Set(),
  methods: new Set(),
  paths: new Set(),
  addresses: new Set(),
  agents: new Set(),
  headers: new Map(),
  parameters: new Map(),
  cookies: new Map(),
  facts: new Map(),
  certificates: new Set(),
  bodies: new Set(),
  startsMs: new Set(),
  seeds: 0,
  answers: [],
  backends: [],
  tunnelAgents: {},
  befores: [],
  gates: { visitors: [], reserved: [], signatures: [], befores: [], isAskedForPages: false },
};

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
  const gates = gatePools(config, actions, {
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
    answers: answersOf(config, asked, actions),
    backends,
    tunnelAgents: onlineAgents(config),
    befores: [...statefulBefores(config, actions, backends), ...gates.befores],
    gates,
  };
}

const SEEDS = 40;

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

function agentsOf(config: EdgeConfig, asked: readonly Asked[]): Set<string | null> {
  const filters = modulesOf(config).flatMap(({ facts, config: own }) => {
    const lists = facts.patternLists?.(own);
    return lists === undefined ? [] : [Object.values(lists).flat()];
  });
  const texts = textsFor(asked, /^req\.user_agent/);
  if (filters.length === 0 && texts.length === 0) return new Set();
  const samples = filters
    .flat()
    .flatMap((pattern) => sampleTexts(pattern).flatMap((sample) => [sample, `x${sample}x`]));
  return new Set([...samples, ...texts, 'Mozilla/5.0', 'other/1.0', null, ...filters.flatMap(tooLong)]);
}

/** Maximum length of a field in a case. */
const FIELD_LIMIT_UNITS = 8_000;

/** A user agent that is too long to be searched for these patterns, if that is not very long. */
function tooLong(patterns: readonly string[]): string[] {
  const set = compilePatternSet(patterns);
  return isPatternSet(set) && set.limitUnits < FIELD_LIMIT_UNITS ? ['x'.repeat(set.limitUnits + 1)] : [];
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
  for (const { headers = {} } of samplesOf(config, actions))
    for (const [name, values] of Object.entries(headers)) add(name, values);
  for (const name of removedFields(config, actions, 'request')) add(name, ['x']);
  // These headers are derived from the body and the URL of a request.
  for (const name of FRAMING) pool.delete(name);
  return pool;
}

function samplesOf(config: EdgeConfig, actions: Actions): readonly Samples[] {
  return [
    ...modulesOf(config).flatMap(({ facts, config: own }) => facts.samples?.(own) ?? []),
    ...actions.flatMap(({ type, config: own }) => ACTION_FACTS.get(type)?.samples?.(own as never) ?? []),
  ];
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

const BODY_LIMIT = 65_536;

/** Bodies around the lengths that expressions compare with. */
function bodiesOf(asked: readonly Asked[]): Set<string> {
  const lengths = asked
    .flatMap(({ variables, numbers, names, texts }) => [
      ...(has(variables, /^req\.content_length/) ? numbers : []),
      ...(names.header.includes('content-length')
        ? texts.filter((text) => /^\d{1,9}$/.test(text)).map(Number)
        : []),
    ])
    .flatMap((count) => [count - 1, count, count + 1]);
  const possible = lengths.filter((length) => length >= 0 && length <= BODY_LIMIT);
  return new Set(possible.map((length) => 'x'.repeat(length)));
}
