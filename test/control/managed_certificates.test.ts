import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { type PeerCertificate, connect } from 'node:tls';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type LocalAuthority, localAuthority, localIssuer } from '../../src/cli/local_authority.ts';
import { type Management, openManagement } from '../../src/control/management.ts';
import { folderWith } from '../folder.ts';
import { type Instance, startInstance } from './instance.ts';

/** Certificates that reserved domains and agent ingresses get by their policy. */

const DAY_MS = 86_400_000;
const folder = folderWith();
const issuer = localIssuer(folder);
let authority: LocalAuthority;
let instance: Instance;
let fails = false;
let now = Date.now();

beforeAll(async () => {
  authority = await localAuthority(folder);
  const serverCertificate: typeof issuer.serverCertificate = (host, key) =>
    fails ? Promise.reject(new Error('the disk is full')) : issuer.serverCertificate(host, key);
  instance = await startInstance({ issuer: { ...issuer, serverCertificate }, nowMs: () => now });
});
afterAll(() => instance.close());

const domainPath = (id: string) => `/reserved_domains/${id}`;

async function settled(path: string, wants: (body: Record<string, never>) => boolean) {
  return vi.waitFor(async () => {
    const { body } = await instance.call('GET', path);
    if (!wants(body)) throw new Error(JSON.stringify(body));
    return body;
  }, 30_000);
}

const issued = (path: string) =>
  settled(path, (body) => body['certificate_management_status']?.['provisioning_job'] === null);

it.each(['ecdsa', 'rsa'] as const)('a domain with a policy gets a certificate: %s', async (type) => {
  const made = await instance.make('/reserved_domains', {
    domain: `*.${type}.test`,
    certificate_management_policy: type === 'ecdsa' ? {} : { private_key_type: type },
  });
  expect(made).toMatchObject({
    certificate: null,
    certificate_management_policy: { authority: 'letsencrypt', private_key_type: type },
    certificate_management_status: {
      renews_at: null,
      provisioning_job: { error_code: null, retries_at: null, started_at: made.created_at },
    },
    acme_challenge_cname_target: expect.stringMatching(/\.acme\.service\.test$/),
  });
  const domain = await issued(domainPath(made.id));
  const { body: certificate } = await instance.call('GET', `/tls_certificates/${domain.certificate.id}`);
  expect(certificate).toMatchObject({
    private_key_type: type,
    subject_alternative_names: { dns_names: [`*.${type}.test`] },
  });
  const renewsAt = Date.parse(domain.certificate_management_status.renews_at);
  expect(Date.parse(certificate.not_after) - renewsAt).toBe(30 * DAY_MS);
  const leaf = new X509Certificate(certificate.certificate_pem);
  expect(leaf.verify(new X509Certificate(authority.certificatePem).publicKey)).toBe(true);
  // Without a policy the certificate stays; nothing is renewed.
  expect((await instance.call('DELETE', `${domainPath(made.id)}/certificate_management_policy`)).status).toBe(
    204,
  );
  expect((await instance.call('GET', domainPath(made.id))).body).toMatchObject({
    certificate: { id: certificate.id },
    certificate_management_policy: null,
    certificate_management_status: null,
  });
});

it('an edge file neither has it nor removes it', async () => {
  const own = await startInstance({ issuer });
  const policy = { certificate_management_policy: {} };
  const { id } = await own.make('/reserved_domains', { domain: 'filed.test', ...policy });
  const certificates = await vi.waitFor(async () => {
    const { body } = await own.call('GET', '/tls_certificates');
    if (body.tls_certificates.length < 1) throw new Error('not yet');
    return body.tls_certificates as unknown;
  }, 30_000);
  const { body: exported } = await own.call('GET', '/edge_file');
  expect(exported.document.tls_certificates).toEqual({});
  expect(exported.left_out).toEqual(['the domain filed.test: which certificate is shown for it']);
  const file = { backends: { ok: { http_response: { status_code: 200 } } }, edges: { https: {} } };
  for (const document of [file, exported.document]) {
    const { status, body } = await own.call('PUT', '/edge_file', document);
    expect([status, body.steps.map(({ kind }: { kind: string }) => kind)]).toEqual([
      200,
      ['http_response_backend'],
    ]);
  }
  expect((await own.call('GET', '/tls_certificates')).body.tls_certificates).toEqual(certificates);
  expect((await own.call('GET', domainPath(id))).body.certificate).not.toBe(null);
  await own.close();
});

it('the edge serves it', async () => {
  const { id: backendId } = await instance.make('/backends/http_response', { body: 'x' });
  const { id: edge } = await instance.make('/edges/https', { hostports: ['app.served.test:443'] });
  const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: backendId } };
  await instance.make(`/edges/https/${edge}/routes`, route);
  const policy = { certificate_management_policy: {} };
  const { id } = await instance.make('/reserved_domains', { domain: 'app.served.test', ...policy });
  await issued(domainPath(id));
  const listening = await instance.management.edge.listen({ tls: { certificateFor: async () => null } });
  const peer = await new Promise<PeerCertificate>((resolve, reject) => {
    const options = { port: listening.tlsPort!, host: '127.0.0.1', ca: authority.certificatePem };
    const socket = connect({ ...options, servername: 'app.served.test' }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', reject);
  });
  expect(peer.subjectaltname).toBe('DNS:app.served.test');
  await listening.close(0);
});

it('a failed request is reported and repeated', async () => {
  fails = true;
  const policy = { certificate_management_policy: {} };
  const { id } = await instance.make('/reserved_domains', { domain: 'failing.test', ...policy });
  const failed = await settled(
    domainPath(id),
    (body) => body['certificate_management_status']?.['provisioning_job']?.['error_code'] !== null,
  );
  const { provisioning_job: job } = failed.certificate_management_status;
  expect(job).toMatchObject({
    error_code: 'INTERNAL_ERROR',
    msg: 'The certificate cannot be issued: the disk is full.',
  });
  expect(Date.parse(job.retries_at) - Date.parse(job.started_at)).toBe(60_000);
  fails = false;
  now = Date.parse(job.retries_at) + 1_000;
  // A write makes it look at the time again.
  await instance.call('PATCH', domainPath(id), { metadata: 'x' });
  await issued(domainPath(id));
});

it('a certificate is renewed in time, also by a later process, and the former one is removed', async () => {
  const policy = { certificate_management_policy: {} };
  const storePath = join(folderWith(), 'store.db');
  const opened = (at: number) => openManagement({ storePath, issuer, nowMs: () => at });
  const stored = async (management: Management, id: string) =>
    (await management.store.read((view) => view.get(id)))?.body;
  const before = await opened(now);
  const { url, close } = await before.listen();
  const response = await fetch(`${url}/reserved_domains`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${before.firstKey!}`,
      'service-version': '2',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ domain: 'renewed.test', ...policy }),
  });
  const { id } = (await response.json()) as { id: string };
  const first = await vi.waitFor(async () => {
    const body = await stored(before, id);
    expect(body!['certificate_id']).toBeDefined();
    return body!;
  }, 30_000);
  await close();
  await before.close();
  const { renews_at: renewsAt } = first['management'] as { renews_at: string };
  const after = await opened(Date.parse(renewsAt) + 1_000);
  await vi.waitFor(async () => {
    expect((await stored(after, id))!['certificate_id']).not.toBe(first['certificate_id']);
  }, 30_000);
  expect(await stored(after, String(first['certificate_id']))).toBeUndefined();
  await after.close();
});

it('a certificate and a policy exclude each other, and either replaces the other', async () => {
  const managed = await instance.make('/reserved_domains', {
    domain: 'either.test',
    certificate_management_policy: {},
  });
  const { certificate } = await issued(domainPath(managed.id));
  const at = domainPath(managed.id);
  const both = { certificate_id: certificate.id, certificate_management_policy: {} };
  const refused = await instance.call('PATCH', at, both);
  expect([refused.status, refused.body.details.pointer]).toEqual([400, '/certificate_id']);
  const uploaded = await instance.call('PATCH', at, { certificate_id: certificate.id });
  expect(uploaded.body).toMatchObject({
    certificate: { id: certificate.id },
    certificate_management_policy: null,
  });
});

it('an agent ingress gets the certificate of its host', async () => {
  const made = await instance.make('/agent_ingresses', {
    domain: 'Connect.Example.test',
    certificate_management_policy: {},
  });
  expect(made).toMatchObject({
    domain: 'connect.example.test',
    region_domains: ['tunnel.local.connect.example.test'],
    certificate_management_policy: { private_key_type: 'rsa' },
  });
  await issued(`/agent_ingresses/${made.id}`);
  const host = made.region_domains[0];
  const found = await instance.management.ingressCertificate(host);
  expect(new X509Certificate(found!.certificatePem).checkHost(host)).toBe(host);
  expect(await instance.management.ingressCertificate('tunnel.local.other.test')).toBeNull();
  const { body } = await instance.call('GET', `/agent_ingresses/${made.id}`);
  expect(JSON.stringify(body)).not.toContain('PRIVATE KEY');
  const { records } = await instance.management.store.read(async (view) => ({
    records: await view.audit(20),
  }));
  expect(JSON.stringify(records)).not.toContain('PRIVATE KEY');
});

it('without an authority the reason is shown', async () => {
  const other = await startInstance();
  const policy = { certificate_management_policy: {} };
  const { id } = await other.make('/reserved_domains', { domain: 'none.test', ...policy });
  await vi.waitFor(async () => {
    const { body } = await other.call('GET', domainPath(id));
    expect(body.certificate_management_status.provisioning_job.msg).toContain('no certificate authority');
  }, 30_000);
  await other.close();
});
