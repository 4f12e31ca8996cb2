import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { beginConnection } from '../../src/edge/connect.ts';
import { usable } from '../../src/edgeproof.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { prepareConnection } from '../../src/simulator/document/connections.ts';
import { seededChance } from '../../src/engine/drivers/seeded_chance.ts';
import { runFile, ONCE } from '../../src/simulator/run_file.ts';
import { connectTo } from '../../src/simulator/run_connect.ts';
import { SimulatedAgents } from '../../src/simulator/agents.ts';
import { scriptedUpstreams } from '../../src/simulator/upstreams.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { traceOf } from '../../src/engine/trace.ts';
import { type Backend, type LiveEdge, backend, dial, echo, liveEdge, received } from '../server/tcp/peers.ts';
import { PARTNERS_PEM } from '../filters/modules/authority.ts';
import { placeless } from '../placeless.ts';

const POLICY = JSON.stringify({
  on_tcp_connect: [
    {
      name: 'night',
      expressions: ["conn.client_ip == '127.0.0.4'"],
      actions: [{ type: 'log', config: { metadata: { why: 'night' } } }, { type: 'deny' }],
    },
  ],
});

function configTo(address: string, dead: string): Record<string, unknown> {
  return {
    ip_policies: {
      office: {
        rules: [
          { cidr: '127.0.0.0/24', action: 'allow' },
          { cidr: '127.0.0.3/32', action: 'deny' },
        ],
      },
    },
    certificate_authorities: { partners: { ca_pem: PARTNERS_PEM } },
    backends: {
      db: { static: { address } },
      dead: { static: { address: dead } },
      safe: { failover: ['dead', 'db'] },
    },
    edges: {
      tcp: {
        pg: {
          hostports: ['1.tcp.test:5432'],
          ip_restriction: { ip_policy_ids: ['office'] },
          traffic_policy: { value: POLICY },
          backend: { backend_id: 'safe' },
        },
      },
      tls: {
        db: {
          hostports: ['db.test:443'],
          mutual_tls: { certificate_authority_ids: ['partners'] },
          backend: { backend_id: 'db' },
        },
        policy: {
          hostports: ['policy.test:443'],
          traffic_policy: { value: PARTNERS_ONLY },
          backend: { backend_id: 'db' },
        },
        pass: {
          hostports: ['*.pass.test:443'],
          tls_termination: { terminate_at: 'upstream' },
          backend: { backend_id: 'db' },
        },
        new: {
          hostports: ['new.test:443'],
          tls_termination: { min_version: '1.3' },
          backend: { backend_id: 'db' },
        },
      },
    },
  };
}

const PARTNERS_ONLY = JSON.stringify({
  on_tcp_connect: [
    {
      actions: [{ type: 'terminate-tls', config: { mutual_tls_certificate_authorities: ['partners'] } }],
    },
  ],
});

const CASES = [
  {
    name: 'the office comes in',
    connect: { to: '1.tcp.test:5432', ip: '127.0.0.1', sends: 5, receives: 7 },
    upstreams: { dead: 'refuse' },
    expect: {
      connection: 'allowed',
      backend: 'db',
      because: [
        { code: 'ip_restriction.allowed' },
        { module: 'upstream', code: 'upstream.connect' },
        { phase: 'connection', module: 'backend' },
      ],
      decisions: { ip_restriction: 'allow' },
      event: {
        'conn.bytes_in': 5,
        'conn.bytes_out': 7,
        'conn.server_port': 5432,
        'ip_policy.decision': 'allow',
      },
      logs: 0,
    },
  },
  {
    name: 'the night does not',
    connect: { to: '1.tcp.test:5432', ip: '127.0.0.4' },
    expect: {
      connection: 'denied',
      backend: 'none',
      because: { rule: 'night', action: 'deny' },
      logs: [{ why: 'night' }],
    },
  },
  {
    name: 'nothing listens',
    connect: { to: '1.tcp.test:5432', ip: '127.0.0.1' },
    upstreams: { dead: 'refuse', db: 'hang' },
    expect: { connection: 'denied', because: 'upstream.connect' },
  },
  {
    name: 'without a certificate',
    connect: 'tls://db.test:443',
    expect: { connection: 'denied', because: 'mutual_tls.no_certificate' },
  },
  {
    name: 'with one',
    connect: 'db.test:443',
    client_certificate: { subject_cn: 'robot', serial_number: '01' },
    expect: { connection: 'allowed', because: { code: 'mutual_tls.verified', detail: { subject: 'robot' } } },
  },
  {
    name: 'without the certificate that the policy requires',
    connect: 'tls://policy.test:443',
    expect: { connection: 'denied', because: { action: 'terminate-tls' } },
  },
  {
    name: 'with that',
    connect: 'policy.test:443',
    client_certificate: { subject_cn: 'robot', serial_number: '01' },
    expect: { connection: 'allowed', because: { code: 'terminate_tls.terminated' } },
  },
  {
    name: 'by its name',
    connect: { to: 'tls://192.0.2.1:443', server_name: 'a.pass.test' },
    expect: { connection: 'allowed', because: 'tls_termination.passed' },
  },
  {
    name: 'by no name',
    connect: 'tls://other.test:443',
    expect: { connection: 'denied', because: 'connect.unknown_name' },
  },
  {
    name: 'too old',
    connect: { to: 'tls://new.test:443', tls_version: '1.2' },
    expect: { connection: 'denied', because: 'connect.handshake' },
  },
];

function run(cases: readonly object[], config = configTo('127.0.0.1:1', '127.0.0.1:2')) {
  const checkedEdge = usable(checkWholeEdge({ value: config }));
  const checked = checkScenario({ name: 'connect.yaml', value: { edge: config, cases } });
  return runFile(checked, edgeFixture(checkedEdge.config, checkedEdge.locate), ONCE);
}

describe('cases that connect', () => {
  it('pass', () => {
    const { cases, diagnostics } = run(CASES);
    expect(diagnostics).toEqual([]);
    expect(cases.map(({ name, status, mismatches }) => ({ name, status, mismatches }))).toEqual(
      CASES.map(({ name }) => ({ name, status: 'passed', mismatches: [] })),
    );
  });

  it('fail when any part differs, and report why', () => {
    const [first] = CASES;
    const others = [
      { connection: 'denied' },
      { backend: 'dead' },
      { because: 'ip_restriction.denied' },
      { event: { 'conn.bytes_in': 6 } },
      { decisions: { ip_restriction: 'block' } },
      { logs: 1 },
    ];
    const { cases } = run(
      others.map((expected, index) => ({ ...first, name: `other ${index}`, expect: expected })),
    );
    expect(cases.map(({ status }) => status)).toEqual(others.map(() => 'failed'));
    expect(cases[0]!.mismatches[0]).toMatchObject({
      what: 'connection',
      expected: "'denied'",
      received: "'allowed'",
    });
    expect(cases[0]!.explained).toMatchObject({
      decidedBy: { code: 'upstream.connected' },
      request: 'tcp to 1.tcp.test:5432 from 127.0.0.1',
    });
  });

  it('are refused where they are not allowed', () => {
    const bad = [
      { name: 'status', connect: '1.tcp.test:5432', expect: { status: 200 } },
      { name: 'place', connect: 'nowhere', expect: { connection: 'denied' } },
      { name: 'ip', connect: { to: '1.tcp.test:5432', ip: 'x' }, expect: { connection: 'denied' } },
      { name: 'request', request: 'GET /', expect: { connection: 'denied' } },
    ];
    for (const each of bad) {
      const { diagnostics } = run([each]);
      expect(`${each.name}: ${diagnostics.map(({ code }) => code).join()}`).toMatch(
        /scenario\.(?:bad_expectation|bad_request)$/,
      );
    }
  });
});

describe('simulated and live connections', () => {
  let there: Backend;
  let gone: Backend;
  let live: LiveEdge;
  let config: Record<string, unknown>;
  beforeAll(async () => {
    there = await backend(echo);
    gone = await backend(echo);
    await gone.close();
    config = configTo(there.address, gone.address);
    live = await liveEdge(config);
  });
  afterAll(async () => {
    await live.close();
    await there.close();
  });

  it.each(['127.0.0.1', '127.0.0.3', '127.0.0.4'])('from %s have the same trace', async (ip) => {
    const client = await dial(live.portOf('1.tcp.test:5432'), ip);
    client.end('hello');
    const bytes = await received(client);
    const event = await live.nextEvent();
    const { config: checked } = usable(checkWholeEdge({ value: config }));
    const prepared = prepareConnection(
      { to: '1.tcp.test:5432', ip, sends: event.conn.bytes_in, receives: bytes.length },
      '',
      checked,
      { defaults: {}, host: '', tls: {}, startMs: 0, signer: null, report: () => undefined },
    )!;
    const upstreams = scriptedUpstreams(seededChance(1));
    const refusing = {
      status: 0,
      headers: [],
      body: new Uint8Array(0),
      latencyMs: 0,
      fault: 'refuse',
    } as const;
    upstreams.set('dead', { answers: [refusing], afterwards: 'last' });
    const world = { nowMs: () => 0, random: () => 0 };
    const outcome = connectTo(live.edge.runtime.current(), prepared, world, {
      upstreams,
      agents: new SimulatedAgents(seededChance(1), { config: live.edge.config, extend: () => {} }),
    });
    const liveSteps = placeless(live.explained.at(-1)!.steps);
    // The message for a refused connection depends on the system.
    const told = (steps: readonly { code: string; detail: object }[]) =>
      steps.map((step) =>
        step.code === 'upstream.connect' ? { ...step, detail: { backend: 'dead' } } : step,
      );
    expect(told(liveSteps)).toEqual(told(traceOf(outcome.exchange)));
    expect(outcome.event().ip_policy).toEqual(event.ip_policy);
    expect(outcome.event().traffic_policy).toEqual(event.traffic_policy);
    expect(outcome.event().conn).toMatchObject({ ...times(event.conn), server_ip: '127.0.0.1' });
  });

  it('give the same without a real handshake', () => {
    const edge = live.edge.runtime.current();
    const world = { nowMs: () => 0, random: () => 0 };
    const connection = {
      client: { text: '127.0.0.1', family: 4, w0: 0, w1: 0, w2: 0, w3: 2_130_706_433 },
      clientPort: 1,
      serverIp: '127.0.0.1',
      serverPort: 443,
      serverName: 'a.pass.test',
      startMs: 0,
      tls: { version: 'TLSv1.3', cipherSuite: 'x', clientCertificate: null },
    } as const;
    const passed = beginConnection(edge, connection, { kind: 'tls', host: 'a.pass.test', port: 443 }, world);
    expect(passed.connection.tls).toMatchObject({ version: '', cipherSuite: '' });
    expect(passed.pipeline?.edge).toBe('pass');
  });
});

function times<Conn extends { start_ts: string; end_ts: string }>({
  start_ts: _start,
  end_ts: _end,
  ...conn
}: Conn) {
  return conn;
}
