import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { keepSecrets } from '../../../src/edge/secrets.ts';
import { deciderHere } from '../../../src/inspector/decide/decider.ts';
import { decidingPart } from '../../../src/inspector/decide/handlers.ts';
import type { Hello, SearchAnswer } from '../../../src/inspector/wire.ts';
import type { ExchangeDetail } from '../../../src/inspector/wire_detail.ts';
import type {
  CompleteAnswer,
  CoverageAnswer,
  DraftAnswer,
  FormatAnswer,
} from '../../../src/inspector/wire_editing.ts';
import { loadConfig } from '../../../src/project_files/load_config.ts';
import { textsOverDisk } from '../../../src/project_files/texts_over_disk.ts';
import { folderWith } from '../../folder.ts';
import { inspected } from '../inspected.ts';

const EDGE = `backends:
  app: { http_response: { status_code: 200, body: hello } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy:
            on_http_request:
              - name: key
                expressions: ["'authorization' in req.headers && req.headers['authorization'][0] == 'Bearer s3cr3t-value'"]
                actions: [{ type: deny, config: { status_code: 401 } }]
              - name: admin
                expressions: ["req.url.path.startsWith('/admin')"]
                actions: [{ type: deny, config: { status_code: 403 } }]
`;

async function running() {
  const folder = folderWith({ 'edge.yaml': EDGE, 'edge.scenario.yaml': 'edge: edge.yaml\ncases: []\n' });
  const edgeFile = relative('.', `${folder}/edge.yaml`);
  const secrets = { get: () => undefined };
  const decider = deciderHere({
    load: (texts) => loadConfig(edgeFile, { sources: textsOverDisk(texts) }),
    circumstances: () => Promise.resolve({ secrets: keepSecrets(secrets), adoptHosts: 'loopback' }),
    clockMs: () => performance.now(),
  });
  const live = await inspected(
    parse(EDGE),
    {
      files: { names: () => [edgeFile] },
      decide: async (...given) => decidingPart({ secrets, adoptHosts: 'loopback', decider })(...given),
    },
    { adoptHosts: 'loopback' },
  );
  const headers = ['host', 'localhost', 'authorization', 'Bearer another-secret'];
  for (const path of ['/', '/admin/a', '/admin/b']) await live.send(path, { headers });
  const { rows } = await live.ok<SearchAnswer>('POST', '/api/search', {});
  expect(rows.map((row) => row.rule ?? null)).toEqual(['admin', 'admin', null]);
  return {
    ...live,
    edgeFile,
    folder,
    seqs: rows.map(({ seq }) => seq).toSorted((one, other) => one - other),
  };
}

test('the detail of an exchange has reasons and values, and no credential', async () => {
  const { ok, seqs } = await running();
  const { explanation } = await ok<ExchangeDetail>('GET', `/api/exchanges/${seqs[1]}`);
  const rules = explanation!.steps.flatMap((step) => step.rules ?? []);
  expect(rules.map(({ name, applied }) => [name, applied])).toEqual([
    ['key', false],
    ['admin', true],
  ]);
  expect(rules[0]!.reason).toMatch(/is false \(req\.headers\['authorization'\]\[0\] is /);
  expect(rules[1]!.expressions[0]!.parts.map(({ value }) => value)).toEqual(['true', "'/admin/a'"]);
  expect(JSON.stringify(explanation)).not.toContain('another-secret');
});

test('a draft: what would change of the exchanges that are kept', async () => {
  const { ok, api, seqs, edgeFile } = await running();
  expect((await ok<Hello>('GET', '/api/hello')).can).toMatchObject({
    draft: true,
    complete: true,
    coverage: true,
  });
  const texts = { [edgeFile]: EDGE.replace("startsWith('/admin')", "startsWith('/admin/b')") };
  const answer = await ok<DraftAnswer>('POST', '/api/draft', { texts, seq: seqs[1] });
  expect(answer.counts).toEqual({ looked: 3, alike: 2, changed: 1, unknown: 0 });
  expect(answer.changed).toMatchObject([
    { seq: seqs[1], before: { status: 403, place: { file: edgeFile, line: 18 } }, after: { status: 200 } },
  ]);
  expect(answer.one!.explanation!.text).toContain("is false (req.url.path is '/admin/a')");
  expect(JSON.stringify(answer)).not.toContain('another-secret');
  const broken = await ok<DraftAnswer>('POST', '/api/draft', { texts: { [edgeFile]: 'edges: [' } });
  expect([broken.decided, broken.diagnostics.length > 0]).toEqual([false, true]);
  expect((await api('POST', '/api/draft', { texts: 'all' })).status).toBe(400);
});

test('completion, formatting and coverage', async () => {
  const { ok, api, edgeFile, folder } = await running();
  const offset = EDGE.indexOf('app }') + 1;
  const completed = await ok<CompleteAnswer>('POST', '/api/complete', { name: edgeFile, text: EDGE, offset });
  expect(completed.candidates.map(({ text }) => text)).toEqual(['app']);
  const filter = { name: null, text: 'ev.http.response.status', offset: 23 };
  expect((await ok<CompleteAnswer>('POST', '/api/complete', filter)).candidates[0]!.text).toBe(
    'ev.http.response.status_code',
  );
  const policy = { name: 'policy.yaml', text: "on_http_request: [{actions: [{type: 'deny'}]}]\n" };
  const formatted = await ok<FormatAnswer>('POST', '/api/format', policy);
  expect(formatted.text).toContain('on_http_request:\n');
  const refused = await ok<FormatAnswer>('POST', '/api/format', {
    name: 'policy.yaml',
    text: 'on_http_request: [',
  });
  expect([refused.text, refused.diagnostics.length > 0]).toEqual([null, true]);
  const coverage = await ok<CoverageAnswer>('POST', '/api/coverage', {});
  const states = (kind: string) =>
    coverage.points.filter((each) => each.kind === kind).map(({ state }) => state);
  expect(states('routes')).toEqual(['hit']);
  const missing = await api('POST', '/api/coverage', { scenario: `${folder}/missing.yaml` });
  expect(missing.status).toBe(409);
});
