import { beforeAll, describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { EXIT } from '../../src/cli/exit_codes.ts';
import { edgeproof } from './command.ts';

const EDGE = `backends: { app: { static: { address: 'localhost:3000' } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /cart
          backend: { backend_id: app }
          traffic_policy:
            on_http_request:
              - name: office
                actions: [{ type: restrict-ips, config: { allow: ['10.0.0.0/8'] } }]
  tcp:
    database:
      hostports: ['1.tcp.test:5432']
      backend: { backend_id: app }
`;
const SCENARIO = `edge: edge.yaml
cases:
  - { name: guests are refused, tags: [access], request: 'GET https://shop.test/cart', expect: { status: 403 } }
`;

let folder: string;
beforeAll(() => {
  folder = folderWith({ 'edge.yaml': EDGE, 'edge.scenario.yaml': SCENARIO });
});

describe('a name that nothing has', () => {
  it.each([
    [['explain', 'GET', 'https://shp.test/'], "no edge has the host 'shp.test'; did you mean 'shop.test'?"],
    [
      ['explain', 'GET', 'http://shop.test.localhost:8080/'],
      "no edge has the host 'shop.test.localhost'; did you mean 'shop.test'?",
    ],
    [['explain', 'GET', 'https://shop.test/'], 'no route takes this path; there are: /cart'],
    [
      ['explain', '--connect', '1.tcp.tst:5432'],
      "no TLS or TCP edge is at '1.tcp.tst:5432'; did you mean '1.tcp.test:5432'?",
    ],
    [
      ['explain', '--scenario', 'edge.scenario.yaml', '--case', 'guests are refusd'],
      "edge.scenario.yaml has no case 'guests are refusd'; did you mean 'guests are refused'?",
    ],
    ...['offce', 'restrict-ip', 'traffic_policy.deneid', 'ap'].map((name) => [
      ['explain', 'GET', 'https://shop.test/cart', '--why-not', name],
      `the edge has nothing with the name '${name}'; did you mean '`,
    ]),
    [['test', '-t', 'acess'], "no case was selected: no case has the tag 'acess'; did you mean 'access'?"],
    [['test', '-f', 'guests ar refused'], "no case is named so; did you mean 'guests are refused'?"],
    [['cover', '--no-offer', '-t', 'acess'], "no case has the tag 'acess'; did you mean 'access'?"],
    [['cover', '--threshold', 'ruels=90'], "'ruels' is not a kind of coverage; did you mean 'rules'?"],
  ])('%j', async (words, hint) => {
    const { stdout, stderr } = await edgeproof(words as string[], folder);
    expect(stdout + stderr).toContain(hint);
  });
});

it('cover says that a filter selects nothing, and reports nothing', async () => {
  const { code, stdout, stderr } = await edgeproof(['cover', '-f', 'guests ar refused'], folder);
  expect({ code, stdout }).toEqual({ code: EXIT.nothingSelected, stdout: '' });
  expect(stderr).toContain("did you mean 'guests are refused'?");
});

it('help about a verb shows its arguments', async () => {
  const { stdout } = await edgeproof(['help', 'backup'], folder);
  expect(stdout).toContain('edgeproof backup [options] <file>');
  expect(stdout).toBe((await edgeproof(['backup', '--help'], folder)).stdout);
});

it('explain -v shows the values of a case as those of a request, and hides secrets', async () => {
  const own = folderWith({
    'policy.yml': `on_http_request:
  - expressions: ["req.method == 'POST'", "secrets.get('team', 'key') == 'told'"]
    actions: [{ type: deny }]
  - expressions: ["secrets.get('team', 'key') == req.url.path"]
    actions: [{ type: deny }]
`,
    'own.scenario.yaml': `policy: policy.yml
secrets: { team: { key: hush-hush } }
cases: [{ name: one, request: GET /cart, expect: { status: 200 } }]
`,
  });
  const words = ['explain', '--scenario', 'own.scenario.yaml', '--case', 'one'];
  const { stdout: brief } = await edgeproof(words, own);
  expect(brief).toContain("req.method == 'POST' is false (req.method is 'GET')");
  expect(brief).not.toContain('with every part watched');
  const { stdout } = await edgeproof([...words, '-v'], own);
  expect(stdout).toMatch(/^req\.method == 'POST' +false\n +req\.method +'GET'$/m);
  expect(stdout).toContain('evaluated for the first time, with every part watched, in');
  expect(stdout).toContain('***');
  expect(stdout).not.toContain('hush');
});

it('an unknown command or option is answered with what lists them', async () => {
  for (const word of ['nope', '--nope']) {
    const { code, stderr } = await edgeproof([word], folderWith());
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/nope'\nedgeproof --help lists the commands\n$/),
    ]);
  }
});

it('a backend or webhook provider that is like none is answered with those that exist', async () => {
  const own = folderWith({
    'edge.yaml': 'backends: { app: { static: { address: "localhost:1" } } }\nedges: { https: {} }\n',
  });
  const dev = await edgeproof(['dev', '--port', '0', '--backend', 'nope=3000'], own);
  expect([dev.code, dev.stderr]).toEqual([2, expect.stringContaining("no backend 'nope'; there are: app\n")]);
  const sign = await edgeproof(['webhook', 'sign', '--provider', 'nope', '--secret', 's'], own);
  expect([sign.code, sign.stderr]).toEqual([
    2,
    expect.stringContaining('unknown provider; there are: aftership, '),
  ]);
});

it('a store that is missing is answered with the option that names one', async () => {
  const { code, stderr } = await edgeproof(['keys', 'list'], folderWith());
  expect([code, stderr]).toEqual([
    2,
    'there is no store edgeproof.db; name it with --store, or create it with `edgeproof serve`\n',
  ]);
});
