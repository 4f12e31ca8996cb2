import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localAuthority, serverCertificate } from '../../src/cli/local_authority.ts';
import type { Listening } from '../../src/edgeproof.ts';
import { folderWith } from '../folder.ts';
import { type AgentProcess, NO_SDK, agentProcess } from '../tunnel/agent.ts';
import { type Answer, type Instance, startInstance } from './instance.ts';

describe.skipIf(NO_SDK !== null)('agents with credentials of the API', () => {
  let instance: Instance;
  let listening: Listening;
  let agent: AgentProcess;
  let place: object;
  beforeAll(async () => {
    instance = await startInstance({ service: 'ngrok', agents: { reservedOnly: true } });
    const authority = await localAuthority(folderWith());
    const certificateFor = async (host: string) => serverCertificate(authority, host);
    listening = await instance.management.edge.listen({
      tls: { certificateFor },
      tcp: {},
      agents: { port: 0, certificateFor },
    });
    place = { server_addr: `localhost:${listening.agentsPort}`, root_cas: authority.file };
    agent = agentProcess();
  });
  afterAll(async () => {
    agent.child.kill('SIGKILL');
    await listening.close(0);
    await instance.close();
  });

  const forward = (options: object) =>
    agent.run('const l = await ngrok.forward(value); return l.url()', {
      addr: 1,
      force_new_session: true,
      ...place,
      ...options,
    });
  const credential = (acl: readonly string[] = []) => instance.make('/credentials', { acl });
  const list = async (path: string) => (await instance.call('GET', `/${path}`)).body[path];

  test('need a token, and bind what its rules permit', async () => {
    const { id, token } = await credential(['bind:*.mine.localhost']);
    const code = (errorCode: string) => ({ errorCode });
    await expect(forward({})).rejects.toMatchObject(code('ERR_NGROK_4018'));
    await expect(forward({ authtoken: 'abc' })).rejects.toMatchObject(code('ERR_NGROK_105'));
    const unknown = `${token.slice(0, 28)}${'0'.repeat(25)}`;
    await expect(forward({ authtoken: unknown })).rejects.toMatchObject(code('ERR_NGROK_107'));
    await expect(forward({ authtoken: token, domain: 'other.localhost' })).rejects.toMatchObject(
      code('ERR_NGROK_308'),
    );
    await agent.run(
      `kept.lost = [];
       const s = await new ngrok.SessionBuilder().authtoken(value.token).serverAddr(value.server_addr).rootCas(value.root_cas)
         .handleDisconnection((_address, error) => void kept.lost.push(error)).connect();
       await s.httpEndpoint().domain('a.mine.localhost').listenAndForward('http://127.0.0.1:1');`,
      { token, ...place },
    );
    const sessions = async () =>
      (await list('tunnel_sessions')).filter((each: Answer['body']) => each.credential.id === id).length;
    expect(await sessions()).toBeGreaterThan(0);
    await instance.call('DELETE', `/credentials/${id}`);
    await expect.poll(sessions).toBe(0);
    // The SDK tries again, is refused, and keeps the code to itself; a new session shows it.
    await expect.poll(() => agent.run('return kept.lost.join()')).toMatch(/^transport error,reconnect error/);
    await expect(forward({ authtoken: token })).rejects.toMatchObject(code('ERR_NGROK_107'));
  });

  test('have the rights of their credential as it is now; without its owner they end', async () => {
    const owner = await instance.make('/bot_users', { name: 'owner' });
    const { id, token } = await instance.make('/credentials', { owner_id: owner.id, acl: [] });
    await agent.run(
      `kept.session = await new ngrok.SessionBuilder().authtoken(value.token).serverAddr(value.server_addr)
         .rootCas(value.root_cas).connect();`,
      { token, ...place },
    );
    const bind = (domain: string) =>
      agent.run('await kept.session.httpEndpoint().domain(value).listen()', domain);
    await bind('before.localhost');
    await instance.call('PATCH', `/credentials/${id}`, { acl: ['bind:mine.localhost'] });
    await expect(bind('after.localhost')).rejects.toThrow('ERR_NGROK_308');
    await bind('mine.localhost');
    const sessions = async () =>
      (await list('tunnel_sessions')).filter((each: Answer['body']) => each.credential.id === id).length;
    expect(await sessions()).toBe(1);
    await instance.call('PATCH', `/bot_users/${owner.id}`, { active: false });
    expect(await sessions()).toBe(0);
    await expect(forward({ authtoken: token })).rejects.toMatchObject({ errorCode: 'ERR_NGROK_107' });
  });

  test('have events of which a dead destination keeps the newest 10,000, besides all audit events', async () => {
    const target = { debug: { log: false, callback_url: 'https://192.0.2.1/' } };
    const { id } = await instance.make('/event_destinations', { format: 'json', target });
    const sources = [{ type: 'agent_session_start.v0' }];
    await instance.make('/event_subscriptions', { sources, destination_ids: [id] });
    const { store } = instance.management;
    const event = (number: number) => ({
      eventId: `ev_${number}`,
      eventType: 'agent_session_start.v0',
      objectId: 'ts_1',
      event: JSON.stringify({ event_id: `ev_${number}` }),
    });
    await store.write(async (transaction) => {
      await transaction.record(event(0), [id]);
      for (let number = 1; number <= 10_000; number++)
        await transaction.record({ ...event(number), isDroppable: true }, [id]);
    });
    const { token } = await credential();
    await forward({ authtoken: token, domain: 'dropped.localhost' });
    await expect.poll(() => instance.management.delivering.statusOf(id).dropped).toBeGreaterThan(0);
    const first = await store.read((view) => view.waiting(id, 2));
    expect(await store.read((view) => view.waitingCount(id))).toBe(10_001);
    const [kept, oldest] = first.map(({ event: text }) => JSON.parse(text).event_id as string);
    // Of the events of sessions the oldest are gone; the one before them is not droppable.
    expect(kept).toBe('ev_0');
    expect(Number(oldest!.slice(3))).toBeGreaterThan(1);
  });

  test('domains must be reserved', async () => {
    const { token } = await credential();
    const options = { authtoken: token, domain: 'app.example.test' };
    await expect(forward(options)).rejects.toMatchObject({ errorCode: 'ERR_NGROK_319' });
    await instance.make('/reserved_domains', { domain: '*.example.test' });
    expect(await forward(options)).toBe(`https://app.example.test:${listening.tlsPort}`);
  });

  test('TCP addresses must be reserved', async () => {
    const { token } = await credential();
    const options = { authtoken: token, proto: 'tcp' };
    const other = { ...options, remote_addr: '1.tcp.example.test:5432' };
    await expect(forward(other)).rejects.toMatchObject({ errorCode: 'ERR_NGROK_307' });
    const { addr } = await instance.make('/reserved_addrs', {});
    expect(await forward({ ...options, remote_addr: addr })).toMatch(/^tcp:/);
  });

  test('are listed with all fields, take commands, and leave when the owner of their credential is deleted', async () => {
    const owner = await instance.make('/bot_users', { name: 'owner' });
    const made = await instance.make('/credentials', { owner_id: owner.id });
    await agent.run(
      `kept.stopped = 0;
       const s = await new ngrok.SessionBuilder().authtoken(value.token).serverAddr(value.server_addr)
         .rootCas(value.root_cas).metadata('about me').handleStopCommand(() => kept.stopped++).connect();
       await s.httpEndpoint().domain('listed.localhost').metadata('endpoint').listenAndForward('http://127.0.0.1:1');`,
      { token: made.token, ...place },
    );
    const sessions = () =>
      list('tunnel_sessions').then((all) =>
        all.filter((each: { metadata: string }) => each.metadata === 'about me'),
      );
    const [session] = await sessions();
    expect(session).toEqual({
      id: expect.stringMatching(/^ts_[0-9a-z]{27}$/),
      uri: `${instance.url}/tunnel_sessions/${session.id}`,
      agent_version: '1.7.0',
      credential: { id: made.id, uri: made.uri },
      ip: '127.0.0.1',
      metadata: 'about me',
      os: expect.any(String),
      region: 'local',
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      transport: 'ngrok/v2',
    });
    const [tunnel] = await list('tunnels');
    const [endpoint] = await list('endpoints');
    expect([tunnel.tunnel_session.id, tunnel.endpoint.id, tunnel.metadata]).toEqual([
      session.id,
      endpoint.id,
      'endpoint',
    ]);
    expect(endpoint).toMatchObject({ type: 'agent', host: 'listed.localhost', tunnel: { id: tunnel.id } });

    const command = async (name: string) =>
      await instance.call('POST', `/tunnel_sessions/${session.id}/${name}`, {});
    expect((await command('stop')).status).toBe(204);
    await expect.poll(() => agent.run('return kept.stopped')).toBe(1);
    const refused = await command('restart');
    expect([refused.status, refused.body.error_code]).toEqual([400, 'ERR_NGROK_804']);

    await instance.call('DELETE', `/bot_users/${owner.id}`);
    await expect.poll(sessions).toEqual([]);
    await expect.poll(events).toMatchObject([
      { event_type: 'agent_session_stop.v0', object: { error: `the credential ${made.id} was deleted` } },
      { event_type: 'agent_session_start.v0', object: { error: '', session: { id: session.id } } },
    ]);
    async function events() {
      const records = await instance.management.store.read((view) => view.audit(100));
      return records.filter(({ objectId }) => objectId === session.id).map(({ event }) => JSON.parse(event));
    }
    const [stop, start] = await events();
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const object = {
      session: { id: session.id, uri: session.uri },
      credential: { id: made.id, uri: made.uri },
      agent_ip: '127.0.0.1',
      ingress_server_ip: '127.0.0.1',
      region: 'local',
      ingress_hostname: 'localhost',
      user_agent: expect.stringContaining('ngrok-javascript/1.7.0'),
      metadata: 'about me',
      os: session.os,
      arch: expect.stringMatching(/^\w+$/),
      transport: 'muxado',
      started_at: session.started_at,
      expires_at: null,
      stopped_at: null,
      deprecated: { upcoming_minimum_version: '', upcoming_enforcement_date: '', message: '' },
      error: '',
    };
    expect(start.object).toEqual(object);
    const error = `the credential ${made.id} was deleted`;
    expect(stop.object).toEqual({ ...object, stopped_at: time, error });
  });

  test('tunnel groups show the tunnels that are online', async () => {
    const { token } = await credential();
    const group = await instance.make('/backends/tunnel_group', { labels: { app: 'shop' } });
    expect(group.tunnels).toEqual([]);
    await forward({ authtoken: token, proto: 'labeled', labels: 'app:shop' });
    const { body } = await instance.call('GET', `/backends/tunnel_group/${group.id}`);
    const tunnels = await list('tunnels');
    const own = tunnels.find((each: { labels: object }) => Object.keys(each.labels).length > 0);
    expect(body.tunnels).toEqual([{ id: own.id, uri: own.uri }]);
    const backends = async () => (await instance.call('GET', `/tunnels/${own.id}`)).body.backends;
    expect(own.backends).toEqual([{ id: group.id, uri: group.uri }]);
    await instance.make('/backends/tunnel_group', { labels: { app: 'shop', more: 'than that' } });
    await instance.make('/backends/tunnel_group', { labels: {} });
    expect(await backends()).toEqual(own.backends);
    await instance.call('PATCH', `/backends/tunnel_group/${group.id}`, { labels: { app: 'other' } });
    expect(await backends()).toEqual([]);
    const changed = await instance.call('GET', `/backends/tunnel_group/${group.id}`);
    expect(changed.body.tunnels).toEqual([]);
  });

  test('restrictions of the account hold for their addresses and their endpoints', async () => {
    const { token } = await credential();
    const policy = await instance.make('/ip_policies', {});
    const restrict = (type: string) =>
      instance.make('/ip_restrictions', { type, enforced: true, ip_policy_ids: [policy.id] });
    await forward({ authtoken: token, domain: 'closed.localhost' });
    const restriction = await restrict('endpoints');
    const response = await fetch(`https://closed.localhost:${listening.tlsPort}`).catch(
      (error: Error) => error,
    );
    expect(response).toBeInstanceOf(Error); // the local authority is not trusted here
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      request(listening.url, { headers: { host: 'closed.localhost' } }, (got) =>
        resolve(got.resume().statusCode),
      ).end();
    });
    expect(status).toBe(403);
    await instance.call('DELETE', `/ip_restrictions/${restriction.id}`);
    await restrict('agent');
    await expect(forward({ authtoken: token })).rejects.toMatchObject({ errorCode: 'ERR_NGROK_116' });
  });
});
