import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { check, createEdge, defineEdge, defineScenario, loadEdge, renderDiagnostics } from '../src/index.ts';
import { folderWith } from './folder.ts';

const EDGE = defineEdge({
  backends: { app: { static: { address: '127.0.0.1:3000' } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
      },
    },
  },
});

describe('check', () => {
  it('finds nothing in a good file, and in a good object', async () => {
    const name = 'fixtures/sample/edge.yaml';
    expect(await check({ name, text: readFileSync(name, 'utf8') })).toEqual([]);
    expect(await check({ edge: EDGE })).toEqual([]);
  });

  it('locates a mistake of a text, and prints it as the command does', async () => {
    const text = 'edges:\n  https:\n    shop: { hostport: ["a.test:443"] }\n';
    const found = await check({ name: 'edge.yaml', text });
    const printed = renderDiagnostics(found, { color: false });
    expect(printed).toContain('edge.yaml:3:13');
    expect(printed).toContain("did you mean 'hostports'?");
  });

  it('points into an object', async () => {
    const broken = { ...EDGE, backends: {} };
    expect(await check({ edge: broken })).toMatchObject([
      { severity: 'error', pointer: '/edges/https/shop/routes/0/backend/backend_id' },
    ]);
  });

  it('checks policies and scenarios, and policies as their endpoint requires', async () => {
    const policy = 'on_http_request:\n  - actions:\n      - type: deny\n        config: { status_code: 1 }\n';
    expect(await check({ name: 'policy.yml', text: policy })).toMatchObject([{ severity: 'error' }]);
    const scenario = 'edge: edge.yaml\ncases:\n  - { nam: x }\n';
    expect((await check({ name: 'a.scenario.yaml', text: scenario })).length).toBeGreaterThan(0);
    const tcp =
      'on_tcp_connect:\n  - actions:\n      - type: restrict-ips\n        config: { allow: [10.0.0.0/8] }\n';
    expect(await check({ name: 'policy.yml', text: tcp }, { attachedTo: 'tcp_edge' })).toEqual([]);
    expect(
      (await check({ name: 'policy.yml', text: policy.replace('1 }', '403 }') }, { attachedTo: 'tcp_edge' }))
        .length,
    ).toBeGreaterThan(0);
  });
});

it('what is defined is what was written', () => {
  expect(createEdge(EDGE).decide({ url: 'https://shop.test/' }).status).toBe(200);
  const scenario = { edge: 'edge.yaml', cases: [{ name: 'a', request: 'GET https://shop.test/' }] };
  expect(defineScenario(scenario)).toBe(scenario);
});

describe('loadEdge', () => {
  const file = (route: string) =>
    `backends: { ok: { http_response: { status_code: 200 } } }
edges: { https: { shop: { hostports: ["shop.test:443"], routes: [{ match_type: path_prefix, match: /, ${route} }] } } }
`;
  const policy = 'on_http_request:\n  - actions: [{ type: deny }]\n';

  it('makes an edge of a file, with the files beside it and places in them', async () => {
    const folder = folderWith({
      'edge.yaml': file('traffic_policy: { file: policy.yml }, backend: { backend_id: ok }'),
      'policy.yml': policy,
      'edge.ts': `export default ${JSON.stringify(EDGE)};`,
    });
    const edge = await loadEdge(join(folder, 'edge.yaml'));
    const { steps } = edge.explain({ url: 'https://shop.test/' });
    expect(edge.decide({ url: 'https://shop.test/' }).status).toBe(403);
    expect(JSON.stringify(steps)).toContain('policy.yml');
    const ofProgram = await loadEdge(join(folder, 'edge.ts'));
    expect(ofProgram.decide({ url: 'https://shop.test/' }).status).toBe(200);
  });

  it('says what is wrong with the file, and where', async () => {
    const folder = folderWith({ 'edge.yaml': file('backend: { backend_id: okk }') });
    await expect(loadEdge(join(folder, 'edge.yaml'))).rejects.toThrow(
      /edge\.yaml:2:\d+ error[^]*did you mean 'ok'/,
    );
    await expect(loadEdge(join(folder, 'edge.yml'))).rejects.toThrow("did you mean 'edge.yaml'?");
    expect(() => createEdge('edge.yaml' as never)).toThrow(
      'createEdge takes an object; for a file, use `await loadEdge("edge.yaml")`',
    );
  });
});
