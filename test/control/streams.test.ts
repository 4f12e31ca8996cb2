import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import { connect as http2 } from 'node:http2';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Listening } from '../../src/listening.ts';
import { type Backend, backend, echo } from '../server/tcp/peers.ts';
import { CLIENT, SERVER, type TestAuthority, testAuthority } from '../server/tls/authority.ts';
import { failure, request, secure } from '../server/tls/client.ts';
import { type Instance, startInstance } from './instance.ts';

/** What is written through the API, met by real clients of TLS and TCP. */
describe('TLS and TCP edges of the management API', () => {
  let instance: Instance;
  let listening: Listening;
  let upstream: Backend;
  let servers: TestAuthority;
  let partners: TestAuthority;
  const said: string[] = [];

  beforeAll(async () => {
    servers = testAuthority('servers');
    partners = testAuthority('partners');
    upstream = await backend(echo);
    instance = await startInstance();
    const ports = { 'db.test:5432': 0, 'other.test:5433': 0 };
    listening = await instance.management.edge.listen({
      tls: {},
      tcp: { ports },
      say: (text) => said.push(text),
    });
  });
  afterAll(async () => {
    await listening.close(0);
    await instance.close();
    await upstream.close();
  });

  const portOf = (hostport: string): number | undefined =>
    listening.ports().find((each) => `${each.host}:${each.port}` === hostport)?.listensOn;
  const certificate = (names: string) => {
    const { cert, key } = servers.issue(names, SERVER(names));
    return instance.make('/tls_certificates', { certificate_pem: cert, private_key_pem: key });
  };
  const client = (servername: string, more: ConnectionOptions = {}): ConnectionOptions => ({
    port: listening.tlsPort!,
    servername,
    ca: servers.cert,
    ...more,
  });
  const staticBackend = () => instance.make('/backends/static', { address: upstream.address });

  async function said1(socket: Socket): Promise<string> {
    socket.write('hello');
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return chunk.toString();
  }

  it('a TLS edge requests certificates of its current authorities', async () => {
    const { id: backendId } = await staticBackend();
    const { id: authority } = await instance.make('/certificate_authorities', { ca_pem: partners.cert });
    await certificate('tls.test');
    const edge = await instance.make('/edges/tls', {
      hostports: ['tls.test:443'],
      backend: { backend_id: backendId },
    });
    expect(await said1(await secure(client('tls.test')))).toBe('hello');

    const at = `/edges/tls/${edge.id}`;
    await instance.call('PUT', `${at}/mutual_tls`, { certificate_authority_ids: [authority] });
    const robot = partners.issue('robot', CLIENT);
    expect(await failure(client('tls.test'))).toMatch(/ALERT/);
    const shown = { cert: robot.cert, key: robot.key };
    expect(await said1(await secure(client('tls.test', shown)))).toBe('hello');

    const { id: other } = await instance.make('/certificate_authorities', {
      ca_pem: testAuthority('others').cert,
    });
    await instance.call('PUT', `${at}/mutual_tls`, { certificate_authority_ids: [other] });
    expect(await failure(client('tls.test', shown))).toMatch(/ALERT/);

    await instance.call('DELETE', `${at}/mutual_tls`);
    expect(await said1(await secure(client('tls.test')))).toBe('hello');
    await instance.call('PUT', `${at}/tls_termination`, { min_version: '1.3' });
    expect(await failure(client('tls.test', { maxVersion: 'TLSv1.2' }))).toMatch(/PROTOCOL_VERSION/);
    await instance.call('DELETE', at);
    await expect(secure(client('tls.test'))).rejects.toThrow();
  });

  it('an HTTPS edge presents the certificate of its domain and requests those of clients', async () => {
    const { id: backendId } = await instance.make('/backends/http_response', { body: 'hi' });
    const first = await certificate('web.test');
    const edge = await instance.make('/edges/https', { hostports: ['web.test:443'] });
    await instance.make(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: backendId },
    });
    const serial = async (more: ConnectionOptions = {}): Promise<string> => {
      const socket = await secure(client('web.test', more));
      const { serialNumber } = socket.getPeerCertificate();
      expect((await request(socket, 'GET / HTTP/1.1\r\nHost: web.test')).text).toMatch(/hi$/);
      return serialNumber.toLowerCase();
    };
    expect(await serial()).toBe(first.serial_number.toLowerCase());
    // A second certificate for the same name counts as soon as the domain has it.
    const second = await certificate('web.test');
    expect(await serial()).toBe(first.serial_number.toLowerCase());
    const domain = await instance.make('/reserved_domains', {
      domain: 'web.test',
      certificate_id: second.id,
    });
    expect(await serial()).toBe(second.serial_number.toLowerCase());
    await instance.call('DELETE', `/reserved_domains/${domain.id}/certificate`);
    expect(await serial()).toBe(first.serial_number.toLowerCase());

    const { id: authority } = await instance.make('/certificate_authorities', { ca_pem: partners.cert });
    await instance.call('PATCH', `/edges/https/${edge.id}`, {
      mutual_tls: { certificate_authority_ids: [authority] },
    });
    expect(await failure(client('web.test'))).toMatch(/ALERT/);
    const { cert, key } = partners.issue('web-robot', CLIENT);
    expect(await serial({ cert, key })).toBe(first.serial_number.toLowerCase());
    const decided = instance.management.edge.decide({ method: 'GET', url: 'http://web.test/' });
    expect(decided.status).toBeGreaterThanOrEqual(400);
  });

  it('connections that carried HTTP have an event when they close', async () => {
    const { id: backendId } = await instance.make('/backends/http_response', { body: 'x'.repeat(5_000) });
    await certificate('events.test');
    const edge = await instance.make('/edges/https', { hostports: ['events.test:443'] });
    await instance.make(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: backendId },
    });
    const target = { file: { name: 'http.ndjson' } };
    const { id: destination } = await instance.make('/event_destinations', { target });
    const sources = ['tcp_connection_closed.v0', 'http_request_complete.v0'].map((type) => ({ type }));
    await instance.make('/event_subscriptions', { sources, destination_ids: [destination] });
    const path = join(instance.folder, 'events', destination, target.file.name);
    const events = () =>
      readFileSync(path, { encoding: 'utf8', flag: 'a+' })
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
        .filter(({ event_type: type }) => type === 'tcp_connection_closed.v0')
        // Connections of the tests before may close later.
        .filter(({ object }) => object.conn.start_ts >= began);

    const began = new Date().toISOString();
    const secured = await secure(client('events.test', { ALPNProtocols: ['http/1.1'] }));
    const answer = await request(secured, 'GET /one HTTP/1.1\r\nHost: events.test');
    expect(answer.text).toHaveLength(secured.bytesRead);
    secured.end();
    await expect.poll(events).toHaveLength(1);
    const [event] = events();
    expect(event).toMatchObject({ account_id: expect.stringMatching(/^ac_/), principal: null });
    expect(event.object).toEqual({
      conn: {
        bytes_in: secured.bytesWritten,
        bytes_out: secured.bytesRead,
        client_ip: '127.0.0.1',
        end_ts: expect.stringMatching(/Z$/),
        server_ip: '127.0.0.1',
        server_name: 'events.test',
        server_port: 443,
        start_ts: expect.stringMatching(/Z$/),
      },
      ip_policy: { decision: 'invalid' },
      traffic_policy: { logs: [] },
    });
    // Plain HTTP, and HTTP/2 on TLS.
    const plain = connect(listening.port, '127.0.0.1');
    await request(plain as never, 'GET /two HTTP/1.1\r\nHost: events.test');
    plain.end();
    await expect.poll(events).toHaveLength(2);
    const session = http2('https://events.test', {
      createConnection: () =>
        connectTls({ ...client('events.test'), host: '127.0.0.1', ALPNProtocols: ['h2'] }),
    });
    const stream = session.request({ ':path': '/three' }).resume();
    await once(stream, 'end');
    session.close();
    await expect.poll(events).toHaveLength(3);
    const [, over, multiplexed] = events().map(({ object }) => object.conn);
    expect([over.server_name, over.server_port]).toEqual(['', listening.port]);
    expect([multiplexed.server_name, multiplexed.server_port]).toEqual(['events.test', 443]);
    for (const { bytes_out: bytes } of [over, multiplexed]) expect(bytes).toBeGreaterThan(5_000);
  });

  it('a TCP edge listens on its current port and allows its current clients', async () => {
    const { id: backendId } = await staticBackend();
    const edge = await instance.make('/edges/tcp', {
      hostports: ['db.test:5432'],
      backend: { backend_id: backendId },
    });
    const at = `/edges/tcp/${edge.id}`;
    const target = { file: { name: 'connections.ndjson' } };
    const { id: destination } = await instance.make('/event_destinations', { target });
    const path = join(instance.folder, 'events', destination, target.file.name);
    const sources = [{ type: 'tcp_connection_closed.v0', fields: ['conn.server_port'] }];
    await instance.make('/event_subscriptions', { sources, destination_ids: [destination] });
    const reach = (hostport: string): Socket => connect(portOf(hostport)!, '127.0.0.1');
    expect(await said1(reach('db.test:5432'))).toBe('hello');
    await expect
      .poll(() => readFileSync(path, { encoding: 'utf8', flag: 'a+' }))
      .toContain('"server_port":5432');
    await instance.call('PATCH', at, { hostports: ['other.test:5433'] });
    expect(portOf('db.test:5432')).toBeUndefined();
    expect(await said1(reach('other.test:5433'))).toBe('hello');

    const closed = async (): Promise<boolean> => {
      const socket = reach('other.test:5433');
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => undefined);
      socket.write('hello');
      // `once` would reject for the reset with which such a connection may end.
      await new Promise((resolve) => socket.on('close', resolve));
      return text === '';
    };
    const { id: policy } = await instance.make('/ip_policies', {});
    await instance.call('PUT', `${at}/ip_restriction`, { ip_policy_ids: [policy] });
    expect(await closed()).toBe(true);
    await instance.make('/ip_policy_rules', { ip_policy_id: policy, cidr: '127.0.0.0/8', action: 'allow' });
    expect(await said1(reach('other.test:5433'))).toBe('hello');

    // A restriction of all endpoints holds for TCP too.
    const { id: nobody } = await instance.make('/ip_policies', {});
    const restriction = await instance.make('/ip_restrictions', {
      type: 'endpoints',
      enforced: true,
      ip_policy_ids: [nobody],
    });
    expect(await closed()).toBe(true);
    await instance.call('DELETE', `/ip_restrictions/${restriction.id}`);

    const group = await instance.make('/backends/tunnel_group', { labels: { a: 'b' } });
    const failover = await instance.make('/backends/failover', { backends: [group.id, backendId] });
    await instance.call('PUT', `${at}/backend`, { backend_id: group.id });
    expect(await closed()).toBe(true);
    await instance.call('PUT', `${at}/backend`, { backend_id: failover.id });
    expect(await said1(reach('other.test:5433'))).toBe('hello');
    const answering = await instance.make('/backends/http_response', {});
    const refused = await instance.call('PUT', `${at}/backend`, { backend_id: answering.id });
    expect([refused.status, refused.body.details.pointer]).toEqual([400, '/backend_id']);

    await instance.call('DELETE', at);
    expect(portOf('other.test:5433')).toBeUndefined();
    expect(said.join('\n')).not.toMatch(/in use|EADDR/);
  });
});
