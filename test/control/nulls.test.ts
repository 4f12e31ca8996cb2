import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Ngrok as Client } from '@ngrok/ngrok-api';
import { RESOURCES } from '../../src/control/resources/table.ts';
import { someAuthority } from './certificates.ts';
import { type Instance, startInstance } from './instance.ts';
import { SAMPLES } from './samples.ts';

let instance: Instance;
beforeAll(async () => {
  // The name that the client has in its headers.
  instance = await startInstance({ service: 'ngrok', emptyAsJson: true });
});
afterAll(() => instance.close());

/** A route whose every module guards or carries something. */
async function guarded() {
  const { id: backendId } = await instance.make('/backends/http_response', { body: 'x' });
  const { id: policy } = await instance.make('/ip_policies', {});
  const hostports = [`n${Math.floor(performance.now() * 1e6)}.test:443`];
  const edge = await instance.make('/edges/https', { hostports });
  const modules = {
    backend: { backend_id: backendId },
    ip_restriction: { ip_policy_ids: [policy] },
    oauth: { provider: { google: { email_domains: ['a.test'] } } },
    webhook_verification: { provider: 'github', secret: 's' },
    compression: {},
    circuit_breaker: {},
    request_headers: { add: { a: 'b' } },
    response_headers: { remove: ['c'] },
    user_agent_filter: { deny: ['bad'] },
    traffic_policy: { enabled: true, value: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}' },
  };
  const shape = { match_type: 'path_prefix', match: '/', description: 'guarded' };
  const route = await instance.make(`/edges/https/${edge.id}/routes`, { ...shape, ...modules });
  return { edge, route, at: `/edges/https/${edge.id}/routes/${route.id}` };
}

const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

describe('null in an update', () => {
  it('as a weight is refused: without it the backend would get no requests any more', async () => {
    const child = await instance.make('/backends/http_response', { body: 'x' });
    const weighted = await instance.make('/backends/weighted', { backends: { [child.id]: 1 } });
    const at = `/backends/weighted/${weighted.id}`;
    const { status, body } = await instance.call('PATCH', at, { backends: { [child.id]: null } });
    expect([status, body.details.pointer]).toEqual([400, `/backends/${child.id}`]);
    expect(Object.keys((await instance.call('GET', at)).body.backends)).toEqual([child.id]);
  });

  it('from the published client, which sends null for everything unset, removes nothing from a route', async () => {
    const { edge, route, at } = await guarded();
    // oxlint-disable-next-line typescript/no-explicit-any -- routes of the client have more fields than its type
    const client: any = new Client({ apiToken: instance.key, baseUrl: instance.url });
    const writable = RESOURCES.find(({ kind }) => kind === 'https_edge_route')!.fields;
    const names = Object.entries(writable).flatMap(([name, { write }]) =>
      write === undefined ? [] : [name],
    );
    const unset = Object.fromEntries(names.map((name) => [camel(name), null]));
    const sent = { ...unset, edgeId: edge.id, id: route.id, metadata: 'only this' };
    await client.edges.edgesHttpsRoutes.update(sent);
    const { body } = await instance.call('GET', at);
    expect(body).toEqual({ ...route, metadata: 'only this' });
    expect(body.ip_restriction.ip_policies).toHaveLength(1);
  });

  it.each(
    RESOURCES.filter(({ operations }) => operations.includes('update')).map(
      (each) => [each.kind, each] as const,
    ),
  )('of %s changes no field', async (kind, resource) => {
    const sample = SAMPLES[kind]!;
    let base = resource.path;
    if (resource.parent !== undefined) {
      const { id } = await instance.make('/edges/https', {});
      base = base.replace(/\{\w+\}/, id);
    }
    const made = await instance.make(base, await sample.create(instance, 77));
    const kept = Object.entries(resource.fields).filter(([, { write }]) => write?.update === 'keeps');
    const nulls = Object.fromEntries(kept.map(([name]) => [name, null]));
    // The lists of these two are emptied by an update that leaves them out, as the specification shows.
    const isKeeper = Object.values(resource.fields).every(({ write }) => write?.update !== 'empties');
    const { body } = await instance.call('PATCH', `${base}/${made.id}`, { ...nulls, ...sample.update });
    const changed = Object.keys(sample.update);
    for (const [name] of kept) {
      const { read } = resource.fields[name]!;
      if (read === undefined || changed.includes(name) || !isKeeper) continue;
      const shownAs = read.name ?? name;
      expect([shownAs, body[shownAs]]).toEqual([shownAs, made[shownAs]]);
    }
    await instance.call('DELETE', `${base}/${made.id}`);
  });

  it('keeps mutual TLS and TLS termination of an edge and the certificate of a domain', async () => {
    const { pem } = someAuthority();
    const { id: authority } = await instance.make('/certificate_authorities', { ca_pem: pem });
    const modules = {
      mutual_tls: { certificate_authority_ids: [authority] },
      tls_termination: { min_version: '1.3' },
    };
    const edge = await instance.make('/edges/https', { hostports: ['mutual-null.test:443'], ...modules });
    const nulls = { mutual_tls: null, tls_termination: null, hostports: null };
    const { body } = await instance.call('PATCH', `/edges/https/${edge.id}`, { ...nulls, metadata: 'm' });
    expect(body).toEqual({ ...edge, metadata: 'm' });
  });

  it('does not remove a module by PUT, either', async () => {
    const { at } = await guarded();
    for (const body of [{ module: null }, 'null']) {
      expect((await instance.call('PUT', `${at}/compression`, body)).status).toBe(400);
    }
    expect((await instance.call('GET', at)).body.compression).toEqual({ enabled: true });
    await instance.call('DELETE', `${at}/compression`);
    expect((await instance.call('GET', at)).body.compression).toBeNull();
  });

  it('changes no text; an empty text does', async () => {
    const { at } = await guarded();
    const kept = await instance.call('PATCH', at, { description: null, metadata: 'x' });
    expect(kept.body).toMatchObject({ description: 'guarded', metadata: 'x' });
    const emptied = await instance.call('PATCH', at, { description: '' });
    expect(emptied.body).not.toHaveProperty('description');
  });

  it('alone is an empty update', async () => {
    const { id } = await instance.make('/api_keys', {});
    const { status, body } = await instance.call('PATCH', `/api_keys/${id}`, { metadata: null });
    expect([status, body.error_code]).toEqual([400, 'ERR_NGROK_606']);
  });
});

describe('an empty list or map in an update, as a published client sends for what is not set', () => {
  it('keeps the policies of a restriction and the labels of a tunnel group', async () => {
    const { id: policy } = await instance.make('/ip_policies', {});
    const restriction = await instance.make('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy] });
    const at = `/ip_restrictions/${restriction.id}`;
    const changed = await instance.call('PATCH', at, { metadata: 'x', ip_policy_ids: [] });
    expect([changed.status, changed.body.metadata]).toEqual([200, 'x']);
    expect(changed.body.ip_policies.map(({ id }: { id: string }) => id)).toEqual([policy]);
    const labels = { team: 'shop' };
    const { id } = await instance.make('/backends/tunnel_group', { labels });
    const group = await instance.call('PATCH', `/backends/tunnel_group/${id}`, { metadata: 'x', labels: {} });
    expect(group.body).toMatchObject({ metadata: 'x', labels });
    // Alone it is what is meant.
    const alone = await instance.call('PATCH', at, { ip_policy_ids: [] });
    expect([alone.status, alone.body.error_code]).toEqual([400, 'ERR_NGROK_1804']);
    const emptied = await instance.call('PATCH', `/backends/tunnel_group/${id}`, { labels: {} });
    expect(emptied.body.labels).toEqual({});
  });

  it('is not needed for an event source: its update may have no body', async () => {
    const type = 'vault_created.v0';
    const { id } = await instance.make('/event_subscriptions', { sources: [{ type }] });
    const at = `/event_subscriptions/${id}/sources/${type}`;
    const { status, body } = await instance.call('PATCH', at);
    expect([status, body.type]).toEqual([200, type]);
    expect((await instance.call('PATCH', at, '{')).status).toBe(400);
  });
});
