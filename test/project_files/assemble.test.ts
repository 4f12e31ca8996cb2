import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { renderDiagnostics } from '../../src/diagnostics/render.ts';
import { namedSecrets } from '../../src/edge/document/named_secrets.ts';
import type { EdgeConfigInput } from '../../src/edge/document/schema.ts';
import { createEdge, edgeOf, usable } from '../../src/edgeproof.ts';
import { loadConfig } from '../../src/project_files/load_config.ts';
import { loadRevision } from '../../src/project_files/load_revision.ts';
import { configSecrets } from '../../src/replay/config_secrets.ts';
import { hasProgram } from '../peers.ts';
import { folderWith } from '../folder.ts';

const DENY = 'on_http_request:\n  - actions:\n      - { type: deny, config: { status_code: 404 } }\n';

/** An edge file with these keys of its only route, and more keys at the top. */
function edgeWith(route: string, top = 'backends: { app: { static: { address: localhost:3000 } } }'): string {
  return `${top}
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          ${route}
`;
}

const VARIABLES = ['EP_TEST_HOST', 'EP_TEST_STATUS', 'EP_TEST_SECRET', 'EP_TEST_EMPTY', 'EDGEPROOF_FILES'];
afterEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});

async function findingsIn(folder: string, file = 'edge.yaml'): Promise<string> {
  const { diagnostics } = await loadConfig(join(folder, file));
  return renderDiagnostics(diagnostics, { color: false }).replaceAll(/[^\s]*edgeproof-test-[^/]*\//g, '');
}

describe('a policy', () => {
  const forms = {
    file: edgeWith('traffic_policy: { file: policies/deny.yml }'),
    map: edgeWith(`traffic_policy:\n            ${DENY.trimEnd().replaceAll('\n', '\n            ')}`),
    text: edgeWith(`traffic_policy: { value: ${JSON.stringify(DENY)} }`),
  };

  it.each(Object.entries(forms))(
    'is read as %s, with the same decision and its own places',
    async (form, text) => {
      const folder = folderWith({ 'edge.yaml': text, 'policies/deny.yml': DENY });
      const checked = await loadConfig(join(folder, 'edge.yaml'));
      expect(checked.diagnostics).toEqual([]);
      const { status, exchange: _ } = edgeOf(usable(checked), {}).decide({ url: 'https://shop.test/' });
      expect(status).toBe(404);
      const place = checked.locate(
        '/edges/https/shop/routes/0/traffic_policy/value/on_http_request/0/actions/0/config/status_code',
      );
      const [file, line] = {
        file: ['policies/deny.yml', 3],
        map: ['edge.yaml', 13],
        text: ['edge.yaml', 10],
      }[form]!;
      expect(place).toMatchObject({ file: expect.stringContaining(String(file)), line });
      expect(checked.files.length).toBe(form === 'file' ? 1 : 0);
    },
  );

  it('has its mistakes located in its own file, and in the map', async () => {
    const broken = DENY.replace('status_code', 'status_cod');
    const inFile = folderWith({ 'edge.yaml': forms.file, 'policies/deny.yml': broken });
    expect(await findingsIn(inFile)).toContain('policies/deny.yml:3:33 error ERR_SERVICE_2203');
    const inMap = folderWith({ 'edge.yaml': forms.map.replace('status_code', 'status_cod') });
    const text = await findingsIn(inMap);
    expect(text).toContain('edge.yaml:13:45 error ERR_SERVICE_2203');
    expect(text).toContain("did you mean 'status_code'?");
  });

  it('has fixes where it is written', async () => {
    const broken = DENY.replace('type: deny', 'type: deyn');
    const folder = folderWith({ 'edge.yaml': forms.file, 'policies/deny.yml': broken });
    const { diagnostics } = await loadConfig(join(folder, 'edge.yaml'));
    for (const { fix, source } of diagnostics)
      if (fix) expect(source?.text.slice(fix.span.start, fix.span.end)).toBe('deyn');
    expect(diagnostics[0]?.source?.text).toBe(broken);
  });

  it('must be there', async () => {
    const folder = folderWith({ 'edge.yaml': edgeWith('traffic_policy: { enabled: true }') });
    expect(await findingsIn(folder)).toContain(
      'edge.yaml:10:11 error edge.missing_key the traffic policy is missing',
    );
  });

  it('can be an object for the library', () => {
    const config: EdgeConfigInput = {
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443'],
            routes: [
              {
                match_type: 'path_prefix',
                match: '/',
                traffic_policy: {
                  on_http_request: [{ actions: [{ type: 'deny', config: { status_code: 418 } }] }],
                },
              },
            ],
          },
        },
      },
    };
    const edge = createEdge(config);
    expect(edge.decide({ url: 'https://shop.test/' }).status).toBe(418);
    const broken = JSON.parse(JSON.stringify(config).replace('"deny"', '"den"')) as EdgeConfigInput;
    expect(() => edge.swap(broken)).toThrow('traffic_policy/value/on_http_request/0/actions/0/type');
  });
});

describe('include', () => {
  const parts = {
    'edge.yaml': 'include: [parts/backends.yaml, "parts/edges/*.yaml"]\n',
    'parts/backends.yaml':
      'backends: { app: { static: { address: localhost:3000 } } }\naddress_databases: [geo.mmdb]\n',
    'parts/edges/a.yaml': edgeWith('traffic_policy: { file: ../deny.yml }', 'ip_policies: {}'),
    'parts/edges/b.yaml': edgeWith('description: b', 'ip_policies: { office: { rules: [] } }')
      .replace('shop:', 'other:')
      .replace('shop.test', 'other.test'),
    'parts/deny.yml': DENY,
  };

  it('joins files; their paths are relative to each', async () => {
    const folder = folderWith(parts);
    const checked = await loadConfig(join(folder, 'edge.yaml'));
    const { config } = usable(checked);
    expect(Object.keys(config.edges.https)).toEqual(['shop', 'other']);
    expect(Object.keys(config.ip_policies)).toEqual(['office']);
    expect(config.address_databases).toEqual(['parts/geo.mmdb']);
    expect(edgeOf(usable(checked), {}).decide({ url: 'https://shop.test/' }).status).toBe(404);
    const names = [
      'parts/edges',
      'parts/backends.yaml',
      'parts/edges/a.yaml',
      'parts/deny.yml',
      'parts/edges/b.yaml',
    ];
    expect(checked.files.map((name) => name.slice(name.indexOf('parts')))).toEqual(names);
  });

  it('locates findings in the file that has them', async () => {
    const folder = folderWith({
      ...parts,
      'parts/edges/b.yaml': parts['parts/edges/b.yaml'].replace('backend_id: app', 'backend_id: ap'),
    });
    const text = await findingsIn(folder);
    expect(text).toContain('parts/edges/b.yaml:9:34 error edge.unknown_backend');
    expect(text).toContain("did you mean 'app'?");
  });

  it('refuses a file that is included twice, and files nested too deeply', async () => {
    const twice = folderWith({
      ...parts,
      'edge.yaml': 'include: [parts/backends.yaml, parts/backends.yaml]\nedges: {}\n',
    });
    expect(await findingsIn(twice)).toMatch(
      /edge.yaml:1:32 error edge.bad_include .* is included a second time/,
    );
    const deep = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`n${at}.yaml`, `include: n${at + 1}.yaml\n`]),
    );
    expect(await findingsIn(folderWith(deep), 'n0.yaml')).toContain(
      'more than 16 levels of files are included',
    );
  });

  it('is refused where there are no files', () => {
    const given = { include: 'no_such.yaml', edges: {} };
    expect(() => createEdge(given)).toThrow('no_such.yaml');
  });
});

describe('files of another place', () => {
  it('are refused unless their folder is allowed', async () => {
    const outside = folderWith({ 'deny.yml': DENY });
    const folder = folderWith({
      'edge.yaml': edgeWith(`traffic_policy: { file: ${join(outside, 'deny.yml')} }`),
    });
    expect(await findingsIn(folder)).toContain('it is outside of the project');
    process.env['EDGEPROOF_FILES'] = outside;
    expect(await findingsIn(folder)).toBe('');
  });

  it('are not reached by links', async () => {
    const outside = folderWith({ 'secret.txt': 'x'.repeat(10) });
    const folder = folderWith({ 'edge.yaml': edgeWith('description: "${file:link.txt}"') });
    execFileSync('ln', ['-s', join(outside, 'secret.txt'), join(folder, 'link.txt')]);
    expect(await findingsIn(folder)).toContain('edge.unreadable_file');
  });
});

describe('references', () => {
  const route = 'description: "${env:EP_TEST_HOST:-none} $${env:X} ${other}"';

  it('are replaced; defaults, escapes, numbers', async () => {
    const top =
      'backends: { app: { http_response: { status_code: "${env:EP_TEST_STATUS:-204}", body: "${file:body.txt}" } } }';
    const folder = folderWith({ 'edge.yaml': edgeWith(route, top), 'body.txt': 'hello\n' });
    const load = async () => usable(await loadConfig(join(folder, 'edge.yaml'))).config;
    expect((await load()).backends['app']?.http_response).toMatchObject({ status_code: 204, body: 'hello' });
    expect((await load()).edges.https['shop']?.routes[0]?.description).toBe('none ${env:X} ${other}');
    process.env['EP_TEST_STATUS'] = '203';
    process.env['EP_TEST_HOST'] = 'here';
    expect((await load()).backends['app']?.http_response?.status_code).toBe(203);
    expect((await load()).edges.https['shop']?.routes[0]?.description).toBe('here ${env:X} ${other}');
    process.env['EP_TEST_STATUS'] = 'many';
    await expect(load()).rejects.toThrow("'status_code' has to be");
  });

  it('to empty variables and missing files are located errors', async () => {
    process.env['EP_TEST_EMPTY'] = '';
    const folder = folderWith({
      'edge.yaml': edgeWith('description: a ${env:EP_TEST_EMPTY}').replace(
        '- match_type',
        '- metadata: "${file:non.txt}"\n          match_type',
      ),
      'none.txt': '',
    });
    const text = await findingsIn(folder);
    expect(text).toContain(
      'edge.yaml:11:26 error edge.missing_variable the environment variable EP_TEST_EMPTY is empty',
    );
    expect(text).toContain('edge.yaml:7:22 error edge.unreadable_file');
    expect(text).toContain("did you mean 'none.txt'?");
  });

  it('are replaced in policies that are maps, but not in conditions, nor as templates', async () => {
    process.env['EP_TEST_HOST'] = '${req.host}';
    const policy = (text: string) =>
      edgeWith(
        `traffic_policy: { on_http_request: [{ ${text} actions: [{ type: add-headers, config: { headers: { x-a: "\${env:EP_TEST_HOST}" } } }] }] }`,
      );
    const folder = folderWith({ 'edge.yaml': policy('') });
    expect(await findingsIn(folder)).toContain('which a policy would evaluate');
    process.env['EP_TEST_HOST'] = 'plain';
    expect(await findingsIn(folder)).toBe('');
    writeFileSync(join(folder, 'edge.yaml'), policy('expressions: ["req.host == \'${env:EP_TEST_HOST}\'"],'));
    expect(await findingsIn(folder)).toContain('a condition of a policy cannot have references');
  });

  it('in places of secrets are hidden in traces, recordings and messages', async () => {
    process.env['EP_TEST_SECRET'] = 'tiger-4711';
    const route2 = `traffic_policy: { on_http_request: [{ actions: [{ type: redirect, config: { to: "/\${env:EP_TEST_SECRET}" } }] }] }`;
    const folder = folderWith({ 'edge.yaml': edgeWith(route2) });
    const checked = usable(await loadConfig(join(folder, 'edge.yaml')));
    expect(namedSecrets(checked.config)).toEqual(['tiger-4711']);
    expect(configSecrets(checked.config)).toContain('tiger-4711');
    const edge = edgeOf(checked, {});
    const steps = JSON.stringify(edge.explain({ url: 'https://shop.test/' }).steps);
    expect(steps).toContain('***');
    expect(steps).not.toContain('tiger-4711');
    writeFileSync(
      join(folder, 'edge.yaml'),
      edgeWith('circuit_breaker: { tripped_duration: "${env:EP_TEST_SECRET}" }'),
    );
    expect(await findingsIn(folder)).toContain('circuit_breaker');
    expect(await findingsIn(folder)).not.toContain('tiger');
  });
});

it.skipIf(!hasProgram('git', ['--version'], 'policies of git revisions'))(
  'a revision has the policies and parts of that revision',
  async () => {
    const folder = folderWith({
      'conf/edge.yaml': `include: "parts/*.yaml"\n${edgeWith('traffic_policy: { file: ../deny.yml }', '')}`,
      'conf/parts/b.yaml': 'backends: { app: { static: { address: localhost:3000 } } }\n',
      'deny.yml': DENY,
    });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@test', ...args], { cwd: folder });
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    writeFileSync(join(folder, 'deny.yml'), DENY.replace('404', '403'));
    rmSync(join(folder, 'conf/parts/b.yaml'));
    const script = `
    import { loadRevision } from '${new URL('../../src/project_files/load_revision.ts', import.meta.url).href}';
    const { config, files, diagnostics } = await loadRevision('HEAD:conf/edge.yaml');
    console.log(JSON.stringify({ diagnostics, files, policy: config?.edges.https.shop.routes[0].traffic_policy.value }));
  `;
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(JSON.parse(out)).toMatchObject({
      diagnostics: [],
      files: ['HEAD:deny.yml', 'HEAD:conf/parts', 'HEAD:conf/parts/b.yaml'],
      policy: DENY,
    });
    await expect(loadRevision('no-such-branch:conf/edge.yaml')).rejects.toThrow(
      /git says: [^.]*; (?:fetch the revision|run this inside)/,
    );
    await expect(loadRevision(join(folder, 'conf/edge.yaml'))).resolves.toMatchObject({ config: null });
  },
);
