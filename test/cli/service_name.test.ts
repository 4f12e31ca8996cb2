import { beforeAll, describe, expect, it } from 'vitest';
import { programOf } from '../../src/cli/program.ts';
import { VERB_NAMES } from '../../src/cli/verbs.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const POLICY = `on_http_request:
  - name: guests
    expressions: ["!('acme-auth-user-email' in req.headers)"]
    actions: [{ type: deny, config: { status_code: 403 } }]
`;
const EDGE = `backends: { app: { static: { address: 'localhost:3000' } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy: { file: policy.yml }
`;
const SCENARIO = `edge: edge.yaml
cases:
  - name: refused
    request: GET https://nowhere.test/
    expect: { status: 404, headers: { acme-error-code: ERR_ACME_3200 } }
`;

let folder: string;
beforeAll(() => {
  folder = folderWith({ 'policy.yml': POLICY, 'edge.yaml': EDGE, 'edge.scenario.yaml': SCENARIO });
});

describe('--service-name', () => {
  it('is an option of every verb that reads a configuration, or speaks to an instance', async () => {
    const program = await programOf(VERB_NAMES);
    const without = program.commands.filter(
      (command) => !command.options.some(({ long }) => long === '--service-name'),
    );
    expect(without.map((command) => command.name())).toEqual([
      'init',
      'merge',
      'keys',
      'session-keys',
      'restrictions',
      'store',
      'deliver',
      'backup',
      'restore',
      'trust',
      'cert',
      'webhook',
      'mcp',
      'lsp',
      'playground',
      'completion',
    ]);
  });

  it('names the codes and headers of a run, whatever the file says', async () => {
    expect((await edgeproof(['test', 'edge.scenario.yaml'], folder)).code).toBe(1);
    const named = await edgeproof(['test', 'edge.scenario.yaml', '--service-name', 'acme'], folder);
    expect(named).toMatchObject({ code: 0 });
    const words = ['explain', 'GET', 'https://nowhere.test/', '--event', '--service-name', 'acme'];
    expect((await edgeproof(words, folder)).stdout).toContain('Acme-Error-Code');
  });

  it('is what a document that names another service gets as its cure', async () => {
    for (const file of ['policy.yml', 'edge.yaml']) {
      const { stdout } = await edgeproof(['check', file], folder);
      expect(stdout).toContain(
        "policy.yml:3:23 warning policy.other_service_name this names the service 'acme', but here it is 'service'",
      );
      expect(stdout).toContain('give --service-name acme, or write service_name: acme in the edge file');
      const cured = await edgeproof(['check', file, '--service-name', 'acme'], folder);
      expect(cured.stdout).toBe(`${file}: no problems found\n`);
    }
  });

  it('refuses what cannot be a name', async () => {
    const { code, stderr } = await edgeproof(['check', 'edge.yaml', '--service-name', 'Acme!'], folder);
    expect(code).toBe(2);
    expect(stderr).toContain('expected a lower-case letter, then lower-case letters, digits and dashes.');
  });
});
