import { expect, test } from 'vitest';
import type { Atom, Diagram, Truth } from '../../src/analysis/atoms.ts';
import { isInside, numberOf } from '../../src/analysis/addresses.ts';
import { conditionDiagram } from '../../src/analysis/conditions.ts';
import { domainOf } from '../../src/analysis/fields.ts';
import { Analysis } from '../../src/analysis/model.ts';
import { isAccepted } from '../../src/analysis/texts/automaton.ts';
import { type Program, compile } from '../../src/cel/program.ts';
import { EvalError } from '../../src/cel/values.ts';
import { connectionFor, headOf } from '../../src/engine/request_like.ts';
import { compileCondition } from '../../src/filters/evaluators.ts';
import { allValues } from '../../src/http/fields.ts';
import { Activation } from '../../src/policy/env/activation.ts';
import { compileFacts } from '../../src/policy/env/facts_table.ts';
import { scopeFor } from '../../src/policy/env/scopes.ts';
import { runs, seeded } from '../random.ts';
import { type Chance, chanceOf } from './random_edges.ts';

/** What the analysis says about an expression is what the engine evaluates, for each request. */

const TIMES = [Date.UTC(2025, 11, 31), Date.UTC(2026, 5, 1, 12), Date.UTC(2026, 6, 1)];

const EXPRESSIONS: readonly string[] = [
  // Header fields with several values.
  "req.headers['x-a'][0] == 'a'",
  "req.headers['x-a'][1].startsWith('b')",
  "getReqHeader('X-A').exists(v, v.matches('^a.*b$'))",
  "getReqHeader('x-a').all(v, v in ['a', 'b', ''])",
  "getReqHeader('x-a').exists_one(v, v == 'a')",
  "req.headers['x-a'].exists(v, v.lowerAscii().contains('ab'))",
  "getReqHeader('x-a').exists(v, size(v) > 1 && v != 'ab')",
  "getReqHeader('x-a').existsOne(v, size(v) == 2)",
  "getReqHeader('x-a').all(v, v.split('b')[1] == '')",
  "getReqHeader('x-a').exists(v, v.split('b')[1] == '')",
  "getReqHeader('x-a').exists_one(v, v.substring(1) == 'b')",
  "getReqHeader('x-a').exists(v, ['a', 'b'].exists(part, v.endsWith(part)))",
  "['a', '12', 'z'].exists(each, getReqHeader('x-a').exists(v, v == each))",
  "['a', 'b'].all(each, req.url.path.contains(each))",
  "['a', 'b'].exists_one(each, req.url.path.contains(each))",
  "getReqHeader('x-a').exists(v, v == 'a' && req.method == 'GET' || v == 'b' && req.method != 'GET')",
  "'ab' in req.headers['x-a']",
  "'ab' in getReqHeader('x-a')",
  "size(getReqHeader('x-a')) == 2",
  "getReqHeader('x-a').size() > 0",
  "req.headers['x-a'].size() >= 2",
  "getReqHeader('x-a').join(',').contains('a,')",
  "req.headers['x-a'].join('') == 'ab'",
  "'x-a' in req.headers && has(req.headers.accept)",
  "hasReqHeader('x-b') ? req.headers['x-b'][0] == '' : true",
  "getReqHeader('x-a') == ['a']",
  "req.headers['x-a'] != ['a', 'b'] && getReqHeader('x-b') == []",
  // Text functions.
  "req.headers['x-a'][0].trim() == 'a'",
  "req.headers['x-a'][0].lower() == 'äb'",
  "req.headers['x-a'][0].upper().startsWith('A')",
  "req.headers['x-a'][0].replace('a', 'bb').contains('bbb')",
  "req.headers['x-a'][0].replace('ab', '', 1) == 'ab'",
  "req.headers['x-a'][0].replace('aa', 'a') == 'aa'",
  "req.url.path.split('/')[1] == 'a'",
  "req.url.path.split('/')[2].startsWith('b')",
  "req.url.path.split('/').size() > 3",
  "req.url.path.split('/').exists(part, part == 'ab')",
  "req.url.path.split('/a').all(part, size(part) < 3)",
  "req.url.path.substring(1) == 'ab'",
  "req.url.path.substring(1, 3).upperAscii() == 'AB'",
  "req.url.path.charAt(3) == 'a'",
  "req.url.path.indexOf('a') == 1",
  "req.url.path.indexOf('b') < 0 || req.url.path.indexOf('b') > 3",
  "req.url.path < '/b' && req.url.path >= '/a'",
  "'/ab' > req.url.path",
  'size(req.url.path) in [2, 4]',
  'size(req.url.path) != 3 && 2 < size(req.url.path)',
  'req.url.path.size() > 2.5',
  "cel.bind(path, req.url.path, path.startsWith('/a') && !path.endsWith('b'))",
  "cel.bind(team, req.headers['x-a'][0], req.method == 'GET' || team == 'a')",
  // Numbers.
  'req.content_length > 10',
  'has(req.content_length) && req.content_length <= 7',
  'req.content_length == 7 || req.content_length < 1',
  "int(req.headers['x-a'][0]) > -5",
  "int(req.headers['x-a'][0]) in [7, 12, -3]",
  "int(req.headers['content-length'][0]) < 9007199254740993",
  'conn.client_port >= 1024 && conn.client_port != 5000',
  'conn.client_port < 1024.5',
  'conn.server_port == 443',
  'rand.double() < 0.5',
  'rand.double() <= 0.25 || rand.double() > 0.75',
  "timestamp(time.now) > timestamp('2026-01-01T00:00:00Z')",
  "timestamp(time.now) < timestamp('2026-06-01T12:00:00.000000001Z')",
  "req.ts.header_received >= timestamp('2026-01-01T00:00:00Z')",
  // Queries and cookies.
  "req.url.query_params['q'][0] == 'a'",
  "getQueryParam('q').exists(v, v.contains('b'))",
  "hasQueryParam('q') && getQueryParam('q')[0] != ''",
  "'b' in getQueryParam('q')",
  "getReqCookie('lane') == 'a'",
  "getReqCookie('lane').value.startsWith('a')",
  "req.cookies['lane'].exists(c, c.value == 'b')",
  "req.cookies['lane'][1].value == 'a'",
  "hasReqCookie('lane') && req.cookies.lane.size() > 1",
  "has(req.cookies.lane) || req.url.query == ''",
  // Media types and user agents.
  "req.content_type == 'text/html'",
  "req.content_type.startsWith('text/')",
  "req.user_agent.matches('(?i)bot')",
  "req.user_agent == ''",
  // Facts, connections and results.
  'has(conn.client_ip.is_tor_node) && conn.client_ip.is_tor_node',
  "conn.client_ip.geo.location.country_code in ['DE', 'FR']",
  "has(conn.geo.country_code) && conn.geo.country_code == 'DE'",
  "conn.client_ip.categories.exists(c, c.startsWith('com.example'))",
  "'com.example' in conn.client_ip.categories",
  "conn.tls.version < 'TLSv1.3'",
  'has(conn.tls.version)',
  "has(vars.lane) && vars.lane == 'a'",
  'vars.lane == 2 || vars.lane == 2.5',
  "vars.lane == true || vars.lane == 'a'",
  'size(req.headers) > 4',
  'conn.client_ip.categories.size() == 2',
  "'lane' in vars && vars.lane != 'a'",
];

const RESPONSE: readonly string[] = [
  'res.status_code >= 400 && res.status_code < 500',
  'res.status_code in [404, 410]',
  "res.headers['x-a'][0] == 'a'",
  "getResHeader('x-a').exists(v, v == 'b')",
  "hasResHeader('x-b')",
];

const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'ba',
  'aab',
  'AB',
  ' a ',
  'a b',
  'ÄB',
  'äb',
  '7',
  '12',
  '-3',
  '+007',
  '00',
  '1x',
  'İ',
  'ǅ',
];
const TYPES = ['text/html', 'Text/HTML; charset=x', ' text/html ;', 'application/json', ''];

function randomValue({ pick, real }: Chance): string {
  return real() < 0.8
    ? pick(TEXTS)
    : Array.from({ length: 1 + Math.floor(real() * 3) }, () => pick(TEXTS)).join('');
}

function randomExchange(chance: Chance) {
  const { pick, real } = chance;
  const several = (): string[] => Array.from({ length: Math.floor(real() * 4) }, () => randomValue(chance));
  const headers: [string, string][] = [];
  if (real() < 0.5) headers.push(['accept', '*/*']);
  for (const name of ['x-a', 'x-b']) for (const value of several()) headers.push([name, value]);
  if (real() < 0.5)
    headers.push([
      'content-length',
      pick(['0', '7', '12', '007', ' 12 ', '9007199254740993', 'x', '', '-1']),
    ]);
  if (real() < 0.5) headers.push(['content-type', pick(TYPES)]);
  if (real() < 0.5) headers.push(['user-agent', pick(['curl', 'GoogleBot/2', 'abot', ''])]);
  if (real() < 0.5)
    headers.push([
      'cookie',
      several()
        .map((value) => `lane=${value}`)
        .join('; '),
    ]);
  const query = several()
    .map((value) => `q=${encodeURIComponent(value)}`)
    .join('&');
  const path = pick(['/', '/a', '/b', '/ab', '/a/b', '/a/ab/c', '/aa/ba', '/abab', '/b/a/b/a', '/AB']);
  return {
    url: `${pick(['http', 'https'])}://app.test${path}${query === '' ? '' : `?${query}`}`,
    method: pick(['GET', 'POST']),
    headers,
    clientIp: pick(['192.0.2.1', '198.51.100.7', '2001:db8::1']),
    clientPort: pick([80, 1024, 1023, 5000, 50_000]),
    chance: pick([0, 0.25, 0.5, 0.75, 0.2, 0.999]),
    nowMs: pick(TIMES),
    status: pick([200, 404, 503]),
    vars: pick([null, 'a', 'b', 2, true]),
  };
}

const FACTS = [
  {
    cidr: '192.0.2.0/24',
    is_tor_node: true,
    geo: { location: { country_code: 'DE' } },
    categories: ['com.example.bots', 'org'],
  },
  { cidr: '198.51.100.0/24', is_tor_node: false, geo: { location: { country_code: 'US' } } },
];

function activationOf(exchange: ReturnType<typeof randomExchange>): Activation {
  const head = headOf(exchange);
  if ('refused' in head) throw new Error(JSON.stringify(exchange));
  const { clientIp, clientPort, chance, nowMs } = exchange;
  const { facts } = compileFacts(FACTS, '/facts');
  const endpoint = { id: '', host: head.host, port: 443, protocol: head.scheme };
  const activation = new Activation(
    { nowMs: () => nowMs, random: () => chance },
    { endpoint, facts, secret: () => undefined },
    { ...connectionFor(head, { clientIp, clientPort }), startMs: nowMs },
    { ...head, receivedMs: nowMs },
    { status: exchange.status, headers: exchange.headers.flat() },
  );
  if (exchange.vars !== null) activation.setVar('lane', exchange.vars);
  return activation;
}

/** The values of a field, as the analysis names it; undefined if reading it fails. */
function valuesOf(field: string, activation: Activation): readonly string[] | string | undefined {
  const { request, response, connection } = activation;
  const [kind, name = ''] = field.split(' ');
  switch (kind!) {
    case 'path':
    case 'method':
    case 'host':
    case 'scheme':
      return request[kind];
    case 'req.url.query':
      return request.query ?? '';
    case 'header':
      return allValues(request.headers, name);
    case 'res.header':
      return allValues(response.headers, name);
    case 'query':
      return (evaluated(`getQueryParam('${name}')`, activation) as readonly string[]) ?? [];
    case 'cookie':
      return ((evaluated(`req.cookies['${name}']`, activation) ?? []) as { value: string }[]).map(
        ({ value }) => value,
      );
    case 'chance':
      return String(BigInt(Math.floor(activation.world.random() * 2 ** 53)));
    case 'number':
      if (name === 'size') return String(evaluated(`size(${field.split(' ').at(-1)})`, activation));
      if (name === 'time.now' || name === 'req.ts.header_received')
        return `${activation.world.nowMs()}000000`;
      if (name.startsWith('conn.'))
        return String(name.includes('client') ? connection.clientPort : connection.serverPort);
      return String(response.status);
    case 'list':
    case 'reading': {
      const values = evaluated(name === 'list' ? field.split(' ')[2]! : name, activation);
      return kind === 'reading'
        ? values === undefined
          ? undefined
          : 'read'
        : ((values ?? []) as readonly string[]);
    }
    default: {
      const value = evaluated(name === '' ? kind! : name, activation);
      if (value === undefined || typeof value === 'string') return value;
      const text = JSON.stringify(value);
      return kind === 'any' ? ['', text] : text;
    }
  }
}

const programs = new Map<string, Program<Activation>>();

function evaluated(source: string, activation: Activation): unknown {
  let program = programs.get(source);
  if (program === undefined) {
    const compiled = compile(source, scopeFor('on_http_response', { service: 'service' }));
    program = compiled.program!;
    programs.set(source, program);
  }
  const value = program.evaluate(activation);
  return value instanceof EvalError ? undefined : value;
}

function truthOf(diagram: Diagram<Truth>, activation: Activation): Truth {
  if ('leaf' in diagram) return diagram.leaf;
  return truthOf(isTrue(diagram.atom, activation) ? diagram.yes : diagram.no, activation);
}

function isTrue(atom: Atom, activation: Activation): boolean {
  if (atom.kind === 'address') return isInside(atom.set, numberOf(activation.connection.client));
  if (atom.kind === 'opaque') throw new Error(`opaque: ${atom.message}`);
  const { name } = atom.field;
  const values = valuesOf(name, activation);
  const { dfa, accepted } = domainOf(name);
  if (isAccepted(dfa, values) !== accepted) expect.fail(`${name} cannot be ${JSON.stringify(values)}`);
  return isAccepted(atom.dfa, values);
}

test.each([
  ['on_http_request', EXPRESSIONS],
  ['on_http_response', RESPONSE],
] as const)('%s: an expression is true, false or an error as the analysis says', (phase, expressions) => {
  const chance = chanceOf(seeded(31));
  const scope = scopeFor(phase, { service: 'service' });
  const { atoms, diagrams } = new Analysis();
  const cases = expressions.map((source) => {
    const { program } = compileCondition(source, '', scope);
    expect([source, program === null]).toEqual([source, false]);
    const diagram = conditionDiagram(program!, {
      atoms,
      diagrams,
      path: 'as_is',
      changesOf: () => '',
      surroundings: () => '',
      occurrence: () => 0,
    });
    return { source, program: program!, diagram, seen: new Set<Truth>() };
  });
  for (let round = 0; round < runs(2_000, 150); round++) {
    const exchange = randomExchange(chance);
    const activation = activationOf(exchange);
    for (const { source, program, diagram, seen } of cases) {
      const value = program.evaluate(activation);
      const engine: Truth = typeof value === 'boolean' ? (value ? 'true' : 'false') : 'error';
      seen.add(engine);
      const analysis = truthOf(diagram, activation);
      if (analysis !== engine)
        expect.fail(`${source} is ${engine}, not ${analysis}: ${JSON.stringify(exchange)}`);
    }
  }
  // A comparison in which an expression is always the same would say little.
  const dull = cases.filter(({ seen }) => seen.size < 2).map(({ source }) => source);
  expect(dull).toEqual([]);
});
