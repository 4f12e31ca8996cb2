import { once } from 'node:events';
import { request as httpRequest, createServer } from 'node:http';
import { type AddressInfo, type Server, connect, createServer as createTcpServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientCertificate, localAuthority } from '../../src/cli/local_authority.ts';
import { developmentIdp } from '../../src/dev_idp/idp.ts';
import { browserOf } from '../auth/saml/browser.ts';
import { type Running, edgeproof, start } from '../cli/command.ts';
import { folderWith } from '../folder.ts';

// An edge file as it is deployed: own OAuth apps, real issuers, metadata of a company, certificates of the server, hosts of the
// internet. `dev` runs it unedited.

const metadata = developmentIdp('https://idp.acme.example', [], () => 'x').samlMetadata(Date.now());

const EDGE = `
tls_certificates:
  shop:
    certificate_file: /etc/letsencrypt/live/shop.example.com/fullchain.pem
    private_key_file: /etc/letsencrypt/live/shop.example.com/privkey.pem
certificate_authorities:
  partners: { ca_file: /etc/edge/partners.pem }
address_databases: [/var/lib/GeoIP/GeoLite2-Country.mmdb]
backends:
  app: { static: { address: 'app.prod.acme.example:443', tls: { enabled: true } } }
  db: { static: { address: 'db.prod.acme.example:5432' } }
edges:
  https:
    shop:
      hostports: ['shop.example.com:443', '*.shop.example.com:443']
      tls_termination: { min_version: '1.2' }
      routes:
        - { match_type: path_prefix, match: /, backend: { backend_id: app } }
        - { match_type: path_prefix, match: shop.example.com/only-here, backend: { backend_id: app } }
        - match_type: path_prefix
          match: /own
          oauth:
            provider:
              google: { client_id: 1234.apps, client_secret: '\${env:GOOGLE_SECRET_OF_PRODUCTION}', email_domains: [acme.test] }
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /managed
          oauth: { provider: { github: { organizations: [acme] } } }
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /oidc
          oidc: { issuer: 'https://acme.okta.example', client_id: 0oa, client_secret: '\${env:OKTA_SECRET_OF_PRODUCTION}' }
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /saml
          saml: { idp_metadata: '\${file:idp.xml}', authorized_groups: [staff] }
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /nowhere
          saml: { idp_metadata: '\${file:only_in_production.xml}' }
          backend: { backend_id: app }
    reports:
      hostports: ['reports.example.com:443']
      routes:
        - match_type: path_prefix
          match: /
          traffic_policy:
            value: |
              on_http_request:
                - expressions: ["req.url.host == 'reports.example.com' && req.url.path.startsWith('/oidc')"]
                  actions:
                    - type: openid-connect
                      config:
                        issuer_url: https://acme.auth0.example/
                        client_id: abc
                        client_secret: "\${secrets.get('production', 'auth0')}"
                - expressions: ["actions.service.oidc.identity.email != 'ann@acme.test'"]
                  actions: [{ type: deny, config: { status_code: 403 } }]
          backend: { backend_id: app }
    sso:
      hostports: ['sso.example.com:443']
      routes:
        - match_type: path_prefix
          match: /
          traffic_policy:
            on_http_request:
              - actions:
                  - { type: saml, config: { idp_metadata_url: 'https://idp.acme.example/metadata' } }
          backend: { backend_id: app }
    code:
      hostports: ['code.example.com:443']
      routes:
        - match_type: path_prefix
          match: /
          traffic_policy:
            on_http_request:
              - actions:
                  - type: oauth
                    config: { provider: gitlab, client_id: gl, client_secret: '\${env:GITLAB_SECRET_OF_PRODUCTION}' }
          backend: { backend_id: app }
    partners:
      hostports: ['partners.example.com:443']
      mutual_tls: { certificate_authority_ids: [partners] }
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]
  tls:
    mail:
      hostports: ['mail.example.com:993']
      tls_termination: { terminate_at: edge }
      backend: { backend_id: db }
  tcp:
    db:
      hostports: ['1.tcp.example.com:861']
      backend: { backend_id: db }
`;

const IDENTITIES = `identities:
  ann: { name: Ann, email: ann@acme.test, groups: [staff], organizations: [acme] }
  eve: { name: Eve, email: eve@elsewhere.test }
`;

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('dev with an edge file of production', () => {
  const folder = folderWith({ 'production.yaml': EDGE, 'who.yaml': IDENTITIES, 'idp.xml': metadata });
  const home = join(folder, 'home');
  const app = createServer((request, response) =>
    response.end(`app ${request.url} for ${String(request.headers['service-auth-user-email'])}`),
  );
  const db = createTcpServer((socket) => socket.end('the database'));
  let dev: Running;
  let port: number;
  let tlsPort: number;

  beforeAll(async () => {
    const places = [`app=${await listening(app)}`, `db=127.0.0.1:${await listening(db)}`];
    dev = start(
      [
        'dev',
        'production.yaml',
        '--identities',
        'who.yaml',
        ...places.flatMap((place) => ['--backend', place]),
        '--port',
        '0',
        '--tls-port',
        '0',
      ],
      folder,
      { EDGEPROOF_HOME: home },
    );
    port = Number((await dev.waitFor(/ready in \d+ ms {2}http:\S+:(\d+)/))[1]);
    tlsPort = Number((await dev.waitFor(/shop\.example\.com:443 +https:\S+:(\d+)/))[1]);
    await dev.waitFor(/development identity provider {2}http/);
  });
  afterAll(async () => {
    app.close();
    db.close();
    await dev.stop('SIGTERM');
  });

  /** Names below `localhost` are this machine, whatever its resolver says. */
  async function carry(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const body = Buffer.from(await request.arrayBuffer());
    const headers = { ...Object.fromEntries(request.headers), host: url.host };
    const { port: at, pathname, search } = url;
    const sent = httpRequest({
      host: '127.0.0.1',
      port: at,
      path: pathname + search,
      method: request.method,
      headers,
    });
    sent.end(body);
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const answer = new Headers();
    for (let index = 0; index < response.rawHeaders.length; index += 2)
      answer.append(response.rawHeaders[index], response.rawHeaders[index + 1]);
    return new Response(response.statusCode === 302 ? null : Buffer.concat(chunks), {
      status: response.statusCode,
      headers: answer,
    });
  }

  async function logIn(host: string, path: string, who: string) {
    const browser = browserOf(carry);
    const page = await browser.visit(`http://${host}.localhost:${port}${path}`);
    const link = new RegExp(`href="([^"]*login_as=${who}[^"]*)"`).exec(page.text)?.[1];
    expect({ path, page: page.text, hasLink: link !== undefined }).toMatchObject({ hasLink: true });
    return browser.visit(new URL(link!.replaceAll('&amp;', '&'), page.url).href, null, page.url);
  }

  it.each([
    ['shop.example.com', '/own', 'an OAuth app of its own'],
    ['shop.example.com', '/managed', 'the managed OAuth app'],
    ['shop.example.com', '/oidc', 'an issuer'],
    ['shop.example.com', '/saml', 'metadata of an identity provider'],
    ['shop.example.com', '/nowhere', 'metadata that only production has'],
    ['eu.shop.example.com', '/oidc', 'a host below a wildcard'],
    ['reports.example.com', '/oidc', 'an issuer in a policy, with a secret that only production has'],
    ['sso.example.com', '/any', 'the address of metadata in a policy'],
    ['code.example.com', '/any', 'an OAuth app in a policy'],
  ])('Ann logs in at %s%s: %s', async (host, path) => {
    const page = await logIn(host, path, 'ann');
    expect([page.status, page.text]).toEqual([200, `app ${path} for ann@acme.test`]);
  });

  it.each(['/own', '/managed', '/saml'])('Eve is refused at %s', async (path) => {
    expect((await logIn('shop.example.com', path, 'eve')).status).toBe(403);
  });

  it('routes with a host match, and the backend is the one of this machine', async () => {
    const response = await carry(new Request(`http://shop.example.com.localhost:${port}/only-here`));
    expect([response.status, await response.text()]).toEqual([200, 'app /only-here for undefined']);
    expect((await carry(new Request(`http://example.com.localhost:${port}/`))).status).toBe(404);
  });

  it('certificates and authorities are those of this machine', async () => {
    const authority = await localAuthority(home);
    const ask = async (servername: string, more: object) => {
      const socket = connectTls({
        port: tlsPort,
        host: '127.0.0.1',
        servername,
        ca: authority.certificatePem,
        ...more,
      });
      socket.write(`GET / HTTP/1.1\r\nhost: ${servername}\r\nconnection: close\r\n\r\n`);
      let text = '';
      for await (const chunk of socket) text += (chunk as Buffer).toString();
      return text;
    };
    expect(await ask('shop.example.com', {})).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('shop.example.com.localhost', {})).toMatch(/^HTTP\/1\.1 200 /);
    await expect(ask('partners.example.com', {})).rejects.toThrow(/handshake|alert|certificate/i);
    const robot = clientCertificate(authority, 'robot', []);
    const shown = { cert: robot.certificatePem, key: robot.privateKeyPem };
    expect(await ask('partners.example.com', shown)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('ports that need a privilege are raised', async () => {
    const [, local] = await dev.waitFor(/1\.tcp\.example\.com:861 +tcp:\/\/127\.0\.0\.1:(\d+)/);
    expect(Number(local)).toBeGreaterThanOrEqual(10_861);
    const socket = connect(Number(local), '127.0.0.1');
    let text = '';
    for await (const chunk of socket) text += (chunk as Buffer).toString();
    expect(text).toBe('the database');
    await dev.waitFor(/mail\.example\.com:993 +tls:\/\/127\.0\.0\.1:1\d{4}/);
  });

  it('prints what was replaced', () => {
    const shown = dev.output();
    const table = shown.slice(shown.indexOf('replaced for development:')).split('\n').slice(1);
    const rows = table.slice(
      0,
      table.findIndex((line) => !line.startsWith('    ')),
    );
    expect(
      rows.map((line) =>
        line
          .trim()
          .replaceAll(/ {2,}/g, '  ')
          .replace(/127\.0\.0\.1:\d+/, 'HERE'),
      ),
    ).toMatchInlineSnapshot(`
      [
        "login client_secret  the environment variable GOOGLE_SECRET_OF_PRODUCTION is not set  → made up",
        "login client_secret  the environment variable OKTA_SECRET_OF_PRODUCTION is not set  → made up",
        "login idp_metadata  cannot read only_in_production.xml: there is no such file or folder  → made up",
        "login client_secret  the environment variable GITLAB_SECRET_OF_PRODUCTION is not set  → made up",
        "certificate shop  /etc/letsencrypt/live/shop.example.com/fullchain.pem is not here  → issued by the local authority",
        "authority partners  /etc/edge/partners.pem is not here  → the local authority; \`edgeproof cert --client NAME\` issues client certificates",
        "login shop /own  google, app 1234.apps  → the development identity provider",
        "login shop /managed  github, app of the service  → the development identity provider",
        "login shop /oidc  https://acme.okta.example  → the development identity provider",
        "login shop /saml  https://idp.acme.example/saml/metadata  → the development identity provider",
        "login reports /  https://acme.auth0.example/  → the development identity provider",
        "login sso /  https://idp.acme.example/metadata  → the development identity provider",
        "login code /  gitlab, app gl  → the development identity provider",
        "address database  /var/lib/GeoIP/GeoLite2-Country.mmdb is not here  → none: the places of addresses are unknown",
        "backend app  app.prod.acme.example:443  → HERE",
        "backend db  db.prod.acme.example:5432  → HERE",
      ]
    `);
  });
});

describe('without the options', () => {
  const folder = folderWith({ 'production.yaml': EDGE, 'idp.xml': metadata });

  it('what logins lack is an error, and nothing of production is asked', async () => {
    const ran = await edgeproof(['dev', 'production.yaml', '--port', '0'], folder, {
      EDGEPROOF_HOME: join(folder, 'home'),
    });
    expect(ran.code).toBe(3);
    expect(ran.stdout + ran.stderr).toContain('GOOGLE_SECRET_OF_PRODUCTION is not set');
    expect(ran.stdout + ran.stderr).not.toContain('bad_certificate');
  });

  it('check and serve replace nothing', async () => {
    const ran = await edgeproof(['check', 'production.yaml'], folder);
    expect(ran.code).toBe(3);
    expect(ran.stdout).toContain('fullchain.pem: there is no such file');
    expect(ran.stdout).toContain('OKTA_SECRET_OF_PRODUCTION is not set');
  });

  it('--backend names a backend of the file', async () => {
    const route = '{ match_type: path_prefix, match: /, backend: { backend_id: shop } }';
    const small = `backends: { shop: { static: { address: 'a.example:80' } } }
edges: { https: { a: { hostports: ['a.example:443'], routes: [${route}] } } }
`;
    const own = folderWith({ 'edge.yaml': small });
    const ran = await edgeproof(['dev', 'edge.yaml', '--port', '0', '--backend', 'shp=3000'], own);
    expect([ran.code, ran.stderr]).toEqual([
      2,
      "--backend: there is no backend 'shp'; did you mean 'shop'?\n",
    ]);
    const wrong = await edgeproof(['dev', 'edge.yaml', '--backend', 'shop'], own);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('write a backend and its address'),
    ]);
  });
});
