import { compile } from '../cel/program.ts';
import { digest } from '../crypto/digest.ts';
import { connectionFor, headOf } from '../engine/request_like.ts';
import { decideWithConstants } from '../engine/drivers/constant.ts';
import { compileEdge } from '../edge/compile.ts';
import { readHostport } from '../edge/compile_filters.ts';
import { beginStated } from '../edge/connect.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { explanationOf } from '../edge/explain.ts';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import { partsOfBackend, relaysTo, takesAll } from '../edge/relays.ts';
import { readMatch } from '../edge/router.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { allValues } from '../http/fields.ts';
import { PLAIN_PATH, looseText } from '../http/readings.ts';
import { requestCookies } from '../policy/env/cookies.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { urlOfRequest } from '../policy/env/urls.ts';
import type { Certificate, CertifiedProperty, Claim, Sent, Tree } from './certificate.ts';
import { type Met, Refused, courseOf } from './course.ts';
import { CLIENT, type Region, bitsOf, quoted, valueOf, without } from './region.ts';
import { has, patternMachine, tableMachine } from './sets.ts';

export { Refused } from './course.ts';

/** Identifies a configuration. */
export function hashOf(config: EdgeConfig): string {
  return digest('sha256', [sorted(config)], 'hex');
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each !== 'object' || each === null || Array.isArray(each)
      ? each
      : Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1))),
  );
}

function check(isRight: boolean, message: string): asserts isRight {
  if (!isRight) throw new Refused(message);
}

const NOW_MS = Date.UTC(2026, 0, 1);
const OK = { head: { status: 200, headers: [] }, reused: false } as const;

function read({ method, url, headers, clientIp }: Sent) {
  const head = headOf({ method, url, headers });
  check(!('refused' in head), 'a request of the certificate is refused');
  return { head, connection: connectionFor(head, { clientIp }) };
}

/** Verifies a certificate; throws `Refused`, or another error, if it is not valid. */
export function verify(
  { claim, hashes, tests, tree, format }: Certificate,
  configs: readonly EdgeConfig[],
): { readonly classes: number; readonly claim: Claim } {
  check(format === 2 && hashes.length === ('property' in claim ? 1 : 2), 'the format is another one');
  check(configs.map(hashOf).join() === hashes.join(), 'the certificate is about other configurations');
  const sides = configs.map((config) => sideOf(config));
  const machines = tests.map(({ table }) => tableMachine(table));
  if ('property' in claim) checkProperty(claim.property, configs[0]!);
  else checkRest(configs);
  let classes = 0;
  const walk = (at: Tree, region: Region): void => {
    if ('test' in at) {
      const { field } = tests[at.test]!;
      for (const value of [true, false]) {
        const constraints = [...(region.fields[field] ?? []), { machine: machines[at.test]!, value }];
        walk(value ? at.yes : at.no, { ...region, fields: { ...region.fields, [field]: constraints } });
      }
    } else if ('empty' in at)
      check(without(region, at.empty), `a class is not empty as claimed: ${at.empty}`);
    else {
      classes++;
      for (const [field, constraints] of Object.entries(region.fields)) {
        const values = valuesOf(at.request, field);
        const isIn =
          values === null || constraints.every(({ machine, value }) => has(machine, values) === value);
        check(isIn, `a representative is not in its class: ${field}`);
      }
      if ('property' in claim) never(claim.property, sides[0]!, region, at.request);
      else alike(sides, region, at.request);
    }
  };
  walk(tree, { fields: {}, changed: [] });
  return { classes, claim };
}

/** The values of a field, as the engine reads the request; null for a field that only divides. */
function valuesOf(request: Sent, field: string): readonly string[] | null {
  const { head, connection } = read(request);
  const [kind, name = ''] = field.split(' ');
  if (field === CLIENT) return [bitsOf(connection.client)];
  if (kind === 'header') return allValues(head.headers, name);
  if (kind === 'query') return (urlOfRequest(head).queryParams[name] ?? []) as string[];
  if (kind === 'cookie')
    return ((requestCookies(head.headers)[name] ?? []) as { value: string }[]).map(({ value }) => value);
  return ['path', 'host', 'method', 'scheme'].includes(field) ? [head[field as 'path']] : null;
}

type Side = ReturnType<typeof sideOf>;

/** A configuration with its compiled edge. */
function sideOf(config: EdgeConfig) {
  const edge = compileEdge(config, (_route, _module, _config, initial) => initial());
  /** Runs a request through an engine in its initial state. */
  const run = (request: Sent) => {
    const { head, connection } = read(request);
    const forwarded: unknown[] = [];
    const world = { nowMs: () => NOW_MS, random: () => 0.5 };
    const exchange = decideWithConstants(beginStated(edge, connection, head, world), OK, (question) => {
      if (question.ask === 'forward') forwarded.push(question.request);
    });
    const { decidedBy, steps } = explanationOf(exchange, () => null);
    const { response, body, compress, logs, converts } = exchange;
    const all = steps.flatMap(({ module, detail, inner }) => [{ name: module, detail }].concat(inner ?? []));
    const passed = all.flatMap(({ name, detail }) => (detail['enforced'] === false ? [] : [name]));
    const seen = sorted([response, body, compress, logs, converts, forwarded]);
    return { isStopped: decidedBy.verdict === 'stop', code: decidedBy.code, passed, seen };
  };
  const isReserved = edge.https.some(({ reserved }) => reserved.length > 0);
  /** Whether clients reach the host of a request. */
  const isKnown = (request: Sent): boolean => {
    const { host } = read(request).head;
    return edge.hosts.find(host) !== null && !isInternalHost(host);
  };
  /** What the requests of a region meet on each of their routes: a pool has several. */
  const coursesOf = (region: Region, request: Sent) => {
    const { host, path } = read(request).head;
    const isSame = (field: string, source: string): boolean => {
      const machine = patternMachine(source);
      const [all, some] = [false, true].map((value) => without(region, field, { machine, value }));
      check(all! || some!, `the requests of a class have different ${field}s for the router`);
      return all!;
    };
    for (const each of Object.values(config.edges.https).flatMap(({ hostports }) => hostports)) {
      const name = readHostport(each).host;
      isSame('host', name.startsWith('*.') ? `${quoted(name.slice(1))}\\z` : `\\A${quoted(name)}\\z`);
    }
    const pool = edge.hosts.find(host) ?? [];
    // Only other endpoints reach these hosts.
    if (pool.length > 0 && isSame('host', String.raw`\.internal\z`)) return [];
    return pool.flatMap(({ name, router, pipelines }) => {
      const own = config.edges.https[name]!;
      for (const { match, match_type: type } of own.routes) {
        const selector = readMatch(match);
        if (selector.host === null || isSame('host', `\\A${quoted(selector.host)}\\z`))
          isSame('path', `\\A${quoted(selector.path)}${type === 'exact_path' ? '\\z' : ''}`);
      }
      const found = router.find(host, path);
      if (found === null) return [];
      const route = own.routes[pipelines.indexOf(found)]!;
      const isFolded = own.routes.every(({ match }) => {
        const { path: selector } = readMatch(match);
        return selector === looseText(selector);
      });
      return [{ route, isFolded, met: courseOf(config, own, route, region) }];
    });
  };
  return { config, run, coursesOf, isKnown, isReserved };
}

function checkProperty({ where, never: { end, backend } }: CertifiedProperty, config: EdgeConfig): void {
  if (end !== 'forwarded') return;
  check(backend === undefined || backend in config.backends, 'there is no such backend');
  const [relay] = relaysTo(config, backend, where === undefined);
  check(relay === undefined, `${relay} relays to a backend, too`);
}

/** Checks that no request of the region has the outcome that the property excludes. */
function never(
  { where = 'true', never: { end, backend, without: gates = [] } }: CertifiedProperty,
  side: Side,
  region: Region,
  request: Sent,
): void {
  const { config, run, coursesOf } = side;
  const { program } = compile(where, scopeFor('on_http_request', { service: config.service_name }));
  const ast = program!.typed.ast;
  const about = valueOf(region, ast.source, ast.root);
  if (about === false || about === 'error') return;
  if (end !== 'forwarded') return getsThrough(end, side, region, request);
  const { isStopped, passed } = run(request);
  for (const { route, met } of coursesOf(region, request)) {
    const used = route.backend === undefined ? [] : partsOfBackend(config, route.backend.backend_id);
    if (used.length === 0 || (backend !== undefined && !used.includes(backend))) continue;
    const gate = met.find(
      ({ isMet, isGate, type, isLogin }) =>
        isMet === true && isGate && (gates.includes(type) || (isLogin && gates.includes('login'))),
    );
    check(met.some(isStop) || gate !== undefined, 'a class of requests is forwarded');
    const isAsExpected = isStopped || (!met.some(isStop) && passed.includes(gate!.type));
    check(isAsExpected, 'the engine forwards a representative');
  }
}

const UNROUTED = new Set<string>(['route.unknown_host', 'route.no_match', 'route.ambiguous_path']);
const PLAIN = PLAIN_PATH.source.replace(/^\^/, String.raw`\A`).replace(/\$$/, String.raw`\z`);

/** Checks that a backend gets all requests of the region, to hosts of the file; `blocked` leaves out those without a route. */
function getsThrough(end: 'stopped' | 'blocked', side: Side, region: Region, request: Sent): void {
  const { config, run, coursesOf, isKnown, isReserved } = side;
  const courses = coursesOf(region, request);
  if (!isKnown(request)) return;
  check(!isReserved, 'the paths of logins are not covered');
  const { isStopped, code } = run(request);
  check(!isStopped || (end === 'blocked' && UNROUTED.has(code)), 'the engine stops a representative');
  check(end === 'blocked' || courses.length > 0, 'a class of requests has no route');
  const isPlain = without(region, 'path', { machine: patternMachine(PLAIN), value: false });
  for (const { route, isFolded, met } of courses) {
    check(end === 'blocked' || (isPlain && isFolded), 'a spelling may belong to another route');
    check(
      met.every(({ passes }) => passes),
      'a module or an action may stop a class of requests',
    );
    const { enabled = false, backend_id: id = '' } = route.backend ?? {};
    check(enabled && takesAll(config, id), 'a backend may not take all requests');
  }
}

const isStop = ({ isMet, stops }: Met): boolean => isMet === true && stops === true;

/** Logins, and actions whose result depends on other endpoints. */
const ELSEWHERE = [
  ...[...MODULE_FACTS.values()].flatMap(({ login, type }) => (login === true ? [`"${type}":`] : [])),
  ...[...ACTION_FACTS.values()].flatMap(({ login, ends, type }) =>
    login === true || ends.how.includes('forwarded') ? [type] : [],
  ),
];

/** Checks that everything but the filters of routes, and IP policies, is equal. */
function checkRest(configs: readonly EdgeConfig[]): void {
  const [one, other] = configs.map(({ edges, ip_policies: _policies, ...rest }) => {
    const selectors = Object.entries(edges.https).map(([name, { hostports, routes }]) => [
      name,
      hostports,
      routes.map(({ match, match_type: type }) => `${type} ${match}`).toSorted(),
    ]);
    return sorted([rest, edges.tls, edges.tcp, selectors]);
  });
  check(one === other, 'the configurations differ in parts that certificates are not about');
  const all = configs.map(sorted).join();
  check(!ELSEWHERE.some((name) => all.includes(name)), 'logins and internal endpoints are not covered');
}

/** Checks that both configurations treat all requests of the region alike. */
function alike(sides: readonly Side[], region: Region, request: Sent): void {
  const [one, other] = sides.map(({ coursesOf, run }) => {
    const { isStopped, seen } = run(request);
    const courses = coursesOf(region, request).map(({ met }) => {
      const end = met.findIndex(isStop);
      check(end < 0 || isStopped, 'the engine forwards a representative');
      // Modules behind the one that stops a request still edit the response.
      return met.filter(({ stops }, at) => end < 0 || at <= end || stops === false);
    });
    check(!/endpoint/.test(sorted(courses)), 'what is done depends on the endpoint');
    return sorted([courses, seen]);
  });
  check(one === other, 'the configurations treat a class of requests differently');
}
