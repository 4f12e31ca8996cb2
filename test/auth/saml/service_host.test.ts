import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkClients } from '../../../src/clients/network.ts';
import { usesTls } from '../../../src/cli/stream_options.ts';
import { localCertificates } from '../../../src/cli/local_authority.ts';
import { samlKeysBeside } from '../../../src/control/saml_keys.ts';
import { newSealingKey, readSealingKey, seal, unseal } from '../../../src/crypto/sealing.ts';
import { type Instance, startInstance } from '../../control/instance.ts';
import { browserOf } from './browser.ts';
import { formOf, samlifyIdp } from './samlify_idp.ts';

const IDP = 'https://idp.example.test';
const HOME = 'https://app.example.test';

describe('the addresses that the management API shows', () => {
  const idp = samlifyIdp(IDP, Date.now);
  let instance: Instance;
  let shown: Record<string, string>;
  let at: string;
  const seen: string[] = [];

  /** A browser on the way between the edge and the identity provider, neither of which is on the network. */
  const carry = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (url.origin !== IDP) return (await instance.management.edge.handle(request)).response;
    const metadata = await spMetadata();
    const id = await idp.readRequest(metadata, request.url);
    const acs = shown['assertion_consumer_service_url']!;
    const page = formOf(acs, await idp.respond(metadata, id), url.searchParams.get('RelayState'));
    return new Response(page, { headers: { 'content-type': 'text/html' } });
  };
  const get = async (url: string) => (await instance.management.edge.handle(new Request(url))).response;
  const spMetadata = async (): Promise<string> => (await get(shown['metadata_url']!)).text();

  beforeAll(async () => {
    instance = await startInstance({
      edge: {
        clients: networkClients(),
        upstream: (request) => {
          seen.push(`${new URL(request.url).pathname} ${request.headers.get('service-auth-user-id')}`);
          return new Response('the app');
        },
      },
    });
    const backend = await instance.make('/backends/static', { address: '127.0.0.1:9' });
    const edge = await instance.make('/edges/https', {
      hostports: ['app.example.test:443', '*.wild.test:443'],
    });
    const route = await instance.make(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: backend.id },
    });
    at = `/edges/https/${edge.id}/routes/${route.id}/saml`;
    const put = await instance.call('PUT', at, { idp_metadata: idp.metadata, allow_idp_initiated: true });
    expect(put.status).toBe(200);
    shown = put.body;
  });
  afterAll(() => instance.close());

  it('are those of the metadata with its certificate', async () => {
    const text = await spMetadata();
    for (const name of ['entity_id', 'assertion_consumer_service_url', 'single_logout_url']) {
      expect(text).toContain(`"${shown[name]!}"`);
    }
    const pem = shown['request_signing_certificate_pem']!;
    expect(text).toContain(pem.replaceAll(/-----[^-]*-----|\s/g, ''));
    const certificate = new X509Certificate(pem);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect((await instance.call('GET', at)).body).toEqual(shown);
  });

  it('a login starts at an endpoint, is answered at the service host and ends at the endpoint', async () => {
    const browser = browserOf(carry);
    const last = await browser.visit(`${HOME}/deep?a=1`);
    expect(last).toMatchObject({ url: `${HOME}/deep?a=1`, status: 200, text: 'the app' });
    expect(
      browser.hops.map(({ method, url, status }) => `${method} ${url.split('?')[0]!} ${status}`),
    ).toEqual([
      `GET ${HOME}/deep 302`,
      `GET ${IDP}/sso 200`,
      `POST ${shown['assertion_consumer_service_url']!} 307`,
      `POST ${HOME}/auth/saml/acs 302`,
      `GET ${HOME}/deep 200`,
    ]);
    expect(seen.at(-1)).toBe('/deep ann');
  });

  it('with a wildcard, a login ends at the endpoint where it started', async () => {
    const last = await browserOf(carry).visit('https://one.wild.test/x');
    expect(last).toMatchObject({ url: 'https://one.wild.test/x', status: 200 });
  });

  it('the identity provider can start a login with a destination', async () => {
    const response = await idp.respond(await spMetadata(), null);
    for (const [relay, to] of [
      [`${HOME}/inbox`, `${HOME}/inbox`],
      ['/inbox', `${HOME}/inbox`],
      ['https://evil.test/', `${HOME}/`],
      ['//evil.test/', `${HOME}/`],
    ] as const) {
      const fresh = relay === `${HOME}/inbox` ? response : await idp.respond(await spMetadata(), null);
      const form = new URLSearchParams({ SAMLResponse: fresh, RelayState: relay }).toString();
      const last = await browserOf(carry).visit(shown['assertion_consumer_service_url']!, form, `${IDP}/`);
      expect(last).toMatchObject({ url: to, status: 200 });
    }
  });

  it.each([
    ['of another site', `_abc.${Buffer.from('https://evil.test').toString('base64url')}`],
    [
      'of a host that only begins like ours',
      `_abc.${Buffer.from('https://app.example.test.evil.test').toString('base64url')}`,
    ],
    ['of another port', `_abc.${Buffer.from('https://app.example.test:9999').toString('base64url')}`],
    ['of a host without TLS', `_abc.${Buffer.from('http://app.example.test').toString('base64url')}`],
    ['with a user in it', `_abc.${Buffer.from('https://app.example.test@evil.test').toString('base64url')}`],
    ['that names none', '_abc'],
  ])('a response to a request %s is not forwarded', async (_name, id) => {
    const response = await idp.respond(await spMetadata(), id);
    const last = await browserOf(carry).go(
      shown['assertion_consumer_service_url']!,
      `${IDP}/`,
      new URLSearchParams({ SAMLResponse: response }).toString(),
    );
    expect(last.status).toBe(400);
    expect(last.headers.get('location')).toBeNull();
  });

  it('are served over TLS with a certificate for the service host only', async () => {
    const { edge } = instance.management;
    expect(usesTls(edge.config)).toBe(true);
    const folder = join(instance.folder, 'authority');
    const certificateFor = localCertificates(folder);
    const listening = await edge.listen({ tls: { port: 0, when: usesTls, certificateFor } });
    try {
      const { hostname } = new URL(shown['metadata_url']!);
      await certificateFor(hostname);
      const ca = readFileSync(join(folder, 'authority.pem'), 'utf8');
      const getOverTls = async (url: string, servername = new URL(url).hostname) => {
        const { host, pathname } = new URL(url);
        const options = {
          host: '127.0.0.1',
          port: listening.tlsPort!,
          servername,
          ca,
          agent: false,
        } as const;
        const asked = httpsRequest({ ...options, path: pathname, headers: { host } }).end();
        const [response] = (await once(asked, 'response')) as [IncomingMessage];
        const text = await response.setEncoding('utf8').toArray();
        return { status: response.statusCode, text: text.join('') };
      };
      expect(await getOverTls(shown['metadata_url']!)).toMatchObject({
        status: 200,
        text: expect.stringContaining(shown['entity_id']!) as string,
      });
      // Both take POST, or a signed message; here they only have to answer.
      expect((await getOverTls(shown['assertion_consumer_service_url']!)).status).toBe(404);
      expect((await getOverTls(shown['single_logout_url']!)).status).toBe(400);
      await expect(getOverTls('https://other.service.test/')).rejects.toThrow(/unrecognized/);
    } finally {
      await listening.close(0);
    }
  });

  it('other paths of that host are not found', async () => {
    for (const path of ['', '/saml/edghtsrt_none', '/saml/edghtsrt_none/acs', '/auth/logout']) {
      expect((await get(`https://idp.service.test${path}`)).status).toBe(404);
    }
    expect((await get(`${shown['metadata_url']!}/nothing`)).status).toBe(404);
  });
});

describe('keys beside a store', () => {
  it('are the same after a restart, sealed, and for their owner only', () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeproof-saml-'));
    try {
      const path = join(folder, 'store.db');
      const sealing = () => {
        const key = readSealingKey(newSealingKey())!;
        return {
          seal: (text: string, place: string) => seal(key, text, place),
          unseal: (text: string, place: string) => unseal(key, text, place),
        };
      };
      const key = sealing();
      const first = samlKeysBeside(path, key, Date.now)('route');
      expect(samlKeysBeside(path, key, Date.now)('route')).toEqual(first);
      expect(samlKeysBeside(path, key, Date.now)('other')).not.toEqual(first);
      expect(readFileSync(`${path}.saml`, 'utf8')).not.toContain('PRIVATE');
      expect(statSync(`${path}.saml`).mode & 0o777).toBe(0o600);
      const other = sealing();
      expect(() => samlKeysBeside(path, other, Date.now)).toThrow(/another key/);
      writeFileSync(`${path}.saml`, 'broken');
      expect(() => samlKeysBeside(path, key, Date.now)).toThrow(/another key/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
