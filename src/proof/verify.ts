import { compile } from '../cel/program.ts';
import { digest } from '../crypto/digest.ts';
import { connectionFor, headOf } from '../engine/request_like.ts';
import { decideWithConstants } from '../engine/drivers/constant.ts';
import { type CompiledEdge, compileEdge } from '../edge/compile.ts';
import { readHostport } from '../edge/compile_filters.ts';
import { beginStated } from '../edge/connect.ts';
import type { EdgeConfig, HttpsEdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { explanationOf } from '../edge/explain.ts';
import { partsOfBackend, relaysTo } from '../edge/relays.ts';
import { readMatch } from '../edge/router.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { firstValue } from '../http/fields.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import type { Certificate, Claim, Sent, Tree } from './certificate.ts';
import { type Course, Refused, courseOf } from './course.ts';
import { type Region, CLIENT, bitsOf, holds, quoted, valueOf, without } from './region.ts';
import { type Machine, patternMachine, tableMachine } from './texts.ts';

export { Refused } from './course.ts';

/** Identifies a configuration. */
export function hashOf(config: EdgeConfig): string {
  return digest('sha256', [sorted(config)], 'hex');
}

function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${entries
    .map(([name, each]) => `${JSON.stringify(name)}:${sorted(each)}`)
    .toSorted()
    .join()}}`;
}

/** A configuration with its compiled edge. */
class Side {
  readonly config: EdgeConfig;
  #edge: CompiledEdge | null = null;
  constructor(config: EdgeConfig) {
    this.config = config;
  }

  /** Runs a request through an engine in its initial state. */
  run({ method, url, headers, clientIp }: Sent) {
    const head = headOf({ method, url, headers });
    const connection = connectionFor(head, { clientIp });
    const forwarded: unknown[] = [];
    const world = { nowMs: () => NOW_MS, random: () => 0.5 };
    const edge = (this.#edge ??= compileEdge(this.config, (_route, _module, _config, initial) => initial()));
    const exchange = decideWithConstants(beginStated(edge, connection, head, world), OK, (question) => {
      if (question.ask === 'forward') forwarded.push(question.request);
    });
    const { because, backend, steps } = explanationOf(exchange, () => null);
    const { response, body, compress, logs, converts } = exchange;
    return { because, backend, steps, seen: sorted([response, body, compress, logs, converts, forwarded]) };
  }

  /** The route of all requests of a region; null if no host or route matches them. */
  routeOf(region: Region, { url }: Sent): readonly [edge: HttpsEdgeConfig, route: RouteConfig] | null {
    const head = headOf({ method: 'GET', url, headers: [] });
    if ('refused' in head) throw new Refused('a request of the certificate is refused');
    let best: { readonly rank: number; readonly found: readonly [HttpsEdgeConfig, RouteConfig] } | null =
      null;
    const is = (field: string, pattern: string): boolean => {
      const value = holds(region, field, patternMachine(pattern));
      if (value === 'unknown')
        throw new Refused(`the requests of a region have different ${field}s for the router`);
      return value === 'true';
    };
    const named = Object.values(this.config.edges.https);
    const hosts = new Set(named.flatMap((edge) => edge.hostports.map((each) => readHostport(each).host)));
    const isHost = (host: string) =>
      is('host', host.startsWith('*.') ? `${quoted(host.slice(1))}\\z` : `\\A${quoted(host)}\\z`);
    const mine = [...hosts]
      .filter(isHost)
      .toSorted(
        (one, other) =>
          Number(one.startsWith('*')) - Number(other.startsWith('*')) || other.length - one.length,
      )[0];
    const edge = named.find(({ hostports }) => hostports.some((each) => readHostport(each).host === mine));
    if (mine === undefined || edge === undefined) return null;
    for (const route of edge.routes as readonly RouteConfig[]) {
      const { host, path } = readMatch(route.match);
      const isExact = route.match_type === 'exact_path';
      if ((host !== null && !isHost(host)) || !is('path', `\\A${quoted(path)}${isExact ? '\\z' : ''}`))
        continue;
      const rank = (isExact ? 1e6 : 0) + path.length * 2 + (host === null ? 0 : 1);
      if (best === null || rank > best.rank) best = { rank, found: [edge, route] };
    }
    return best?.found ?? null;
  }
}

const NOW_MS = Date.UTC(2026, 0, 1);
const OK = { head: { status: 200, headers: [] }, reused: false } as const;

/** Verifies a certificate; throws `Refused`, or another error, if it is not valid. */
export function verify(
  certificate: Certificate,
  configs: readonly EdgeConfig[],
): { readonly classes: number; readonly claim: Claim } {
  const { claim, hashes, tests, tree, format } = certificate;
  if (format !== 1 || hashes.length !== ('property' in claim ? 1 : 2))
    throw new Refused('the certificate has another format');
  if (configs.map(hashOf).join() !== hashes.join())
    throw new Refused('the certificate is about other configurations');
  const sides = configs.map((config) => new Side(config));
  const machines = tests.map((test) => ({ field: test.field, machine: tableMachine(test.table) }));
  if ('property' in claim) checkProperty(claim.property, configs[0]!);
  else checkRest(configs);
  let classes = 0;
  const walk = (at: Tree, region: Region): void => {
    if ('test' in at) {
      const { field, machine } =
        machines[at.test] ?? fail('the certificate names a test that it does not have');
      for (const value of [true, false]) {
        const constraints = [...(region.texts[field] ?? []), { machine, value }];
        walk(value ? at.yes : at.no, { ...region, texts: { ...region.texts, [field]: constraints } });
      }
    } else if ('empty' in at) {
      if (!without(region, at.empty))
        throw new Refused(`a class of requests is not empty as claimed: ${at.empty}`);
    } else {
      classes++;
      for (const [field, constraints] of Object.entries(region.texts))
        if (!constraints.every(({ machine, value }) => has(machine, textOf(at.request, field)) === value))
          fail(`a representative is not in its class: ${field}`);
      if ('property' in claim) never(claim.property, sides[0]!, region, at.request);
      else alike(sides, region, at.request);
    }
  };
  walk(tree, { texts: {}, changed: [] });
  return { classes, claim };
}

function fail(message: string): never {
  throw new Refused(message);
}

function has(machine: Machine, text: string | undefined): boolean {
  if (text === undefined) return machine.absent;
  return machine.accepts(Array.from(text, (each) => each.codePointAt(0)!).reduce(machine.step, 0));
}

/** The text of a field, as the engine reads the request. */
function textOf({ method, url, headers, clientIp }: Sent, field: string): string | undefined {
  const head = headOf({ method, url, headers });
  if ('refused' in head) return fail('a request of the certificate is refused');
  if (field === CLIENT) return bitsOf(connectionFor(head, { clientIp }).client);
  if (field === 'path' || field === 'host' || field === 'method') return head[field];
  return field.startsWith('header ')
    ? firstValue(head.headers, field.slice(7))
    : fail(`the field ${field} is not known`);
}

type Property = Extract<Claim, { readonly property: object }>['property'];

function checkProperty({ where, never: { end, backend } }: Property, config: EdgeConfig): void {
  if (end !== 'forwarded') fail('only properties about forwarded requests have certificates');
  if (backend !== undefined && config.backends[backend] === undefined) fail(`there is no backend ${backend}`);
  for (const edge of relaysTo(config, backend, where === undefined)) fail(`${edge} relays to a backend, too`);
}

/** Checks that no request of the region is forwarded in the way that the property excludes. */
function never(
  { where = 'true', never: { backend, without: excluded = [] } }: Property,
  side: Side,
  region: Region,
  request: Sent,
): void {
  const { config } = side;
  const { program } = compile(where, scopeFor('on_http_request', { service: config.service_name }));
  const about =
    program === undefined ? fail('the property does not compile') : valueOf(region, program.typed.ast.root);
  const found = side.routeOf(region, request);
  const seen = side.run(request);
  if (found === null && seen.because.verdict !== 'stop') fail('the engine has a route for a request');
  if (about === 'false' || about === 'error' || found === null) return;
  const course = courseOf(config, ...found, region);
  agree(course, seen);
  const isExcluded = course.passed.some(
    (type) => excluded.includes(type) || (excluded.includes('login') && logsIn(type)),
  );
  if (!course.guardsOnly) fail('a rule that matches other spellings of a path does more than guard');
  if (course.stopped !== null || isExcluded) return;
  const used = found[1].backend === undefined ? [] : partsOfBackend(config, found[1].backend.backend_id);
  if (used.length > 0 && (backend === undefined || used.includes(backend)))
    fail('a class of requests is forwarded');
}

function logsIn(type: string): boolean {
  return MODULE_FACTS.get(type)?.login === true || ACTION_FACTS.get(type)?.login === true;
}

/** Checks that the engine treats the representative as its class is expected to be treated. */
function agree({ stopped, mayStop, passed }: Course, { because, steps }: ReturnType<Side['run']>): void {
  const isStopped = because.verdict === 'stop';
  const all = steps.flatMap(({ module, detail, inner = [] }) => [{ name: module, detail }, ...inner]);
  for (const type of isStopped ? [] : passed)
    if (!all.some(({ name, detail }) => name === type && detail['enforced'] !== false))
      fail(`the engine lets a representative pass without ${type}`);
  if (
    isStopped !== (stopped !== null) &&
    !(isStopped && (mayStop.length > 0 || because.code === 'route.ambiguous_path'))
  )
    fail(`the engine treats a representative differently: ${because.code}`);
}

/** Checks that everything but HTTPS edges and IP policies is equal. */
function checkRest(configs: readonly EdgeConfig[]): void {
  const [one, other] = configs.map((config) => {
    const { edges, ip_policies: _policies, ...rest } = config;
    const selectors = Object.entries(edges.https).map(([name, { hostports, routes }]) => [
      name,
      hostports,
      routes.map(({ match, match_type: type }) => `${type} ${match}`).toSorted(),
    ]);
    return sorted([rest, edges.tls, edges.tcp, selectors]);
  });
  if (one !== other) fail('the configurations differ in parts that certificates are not about');
  const all = configs.map(sorted).join();
  const elsewhere = [
    ...[...MODULE_FACTS.values()].filter(({ login }) => login).map(({ type }) => `"${type}":`),
    ...[...ACTION_FACTS.values()]
      .filter(({ login, ends }) => login === true || ends.how.includes('forwarded'))
      .map(({ type }) => type),
  ];
  if (elsewhere.some((name) => all.includes(name))) fail('logins and internal endpoints are not covered');
}

/** Checks that both configurations treat all requests of the region alike. */
function alike(sides: readonly Side[], region: Region, request: Sent): void {
  const [one, other] = sides.map((side) => {
    const found = side.routeOf(region, request);
    const seen = side.run(request);
    if (found === null) return sorted(['no route', seen.seen]);
    const course = courseOf(side.config, ...found, region);
    agree(course, seen);
    if (/endpoint/.test(sorted(course.effects))) fail('what is done depends on the endpoint');
    return sorted([course.stopped, course.effects, seen.seen]);
  });
  if (one !== other) fail('the configurations treat a class of requests differently');
}
