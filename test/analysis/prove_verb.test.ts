import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Ran, edgeproof } from '../cli/command.ts';
import { folderWith } from '../folder.ts';

const edge = ({ action = 'allow', more = '', cidr = '10.0.0.0/8' } = {}): string => `${more}
ip_policies: {office: {rules: [{cidr: ${cidr}, action: ${action}}]}}
backends:
  app: {static: {address: "localhost:3000"}}
  ops: {static: {address: "localhost:3001"}}
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      routes:
        - {match_type: path_prefix, match: /, backend: {backend_id: app}}
        - {match_type: path_prefix, match: /ops, backend: {backend_id: ops}, ip_restriction: {ip_policy_ids: [office]}}
`;
const OFFICE = `properties:
  - use: backend-only-from
    with: {backend: ops, ranges: [10.0.0.0/8]}
`;
const CLOSED = 'properties: [{use: path-closed, with: {path: /ops}}]\n';

describe('properties in an edge file', () => {
  const folder = folderWith({
    'edge.yaml': edge({ more: OFFICE }),
    'open.yaml': edge({ more: OFFICE, cidr: '0.0.0.0/0' }),
    'none.yaml': edge(),
    'wrong.yaml': edge({ more: OFFICE.replace('backend-only-from', 'backend-only-form') }),
    'shape.yaml': edge({ more: 'properties: [{name: x, never: {end: nothing}}]\n' }),
    'gate.yaml': edge({ more: 'properties: [{name: x, never: {end: forwarded, without: [logn]}}]\n' }),
    'closed.txt': CLOSED,
  });

  test('are proved and refuted', { timeout: 60_000 }, async () => {
    const [usual, open, given, none] = await Promise.all([
      edgeproof(['prove'], folder),
      edgeproof(['prove', 'open.yaml', '-r', 'json'], folder),
      edgeproof(['prove', 'edge.yaml', '--properties', 'closed.txt'], folder),
      edgeproof(['prove', 'none.yaml'], folder),
    ]);
    expect(usual).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^PROVED {4}ops is reached from 10\.0\.0\.0\/8 only /),
    });
    expect(open.code).toBe(6);
    expect(JSON.parse(open.stdout)).toMatchObject([
      { verdict: 'REFUTED', file: 'open.yaml', backend: 'ops' },
    ]);
    // Named files are meant alone.
    expect(given).toMatchObject({
      code: 6,
      stdout: expect.stringMatching(/^REFUTED {3}no request under \/ops/),
    });
    expect(given.stdout).not.toContain('is reached from');
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('none.yaml has no `properties`') });
  });

  test('are checked with the file, and change nothing', { timeout: 60_000 }, async () => {
    const [good, wrong, shape, gate, same] = await Promise.all([
      edgeproof(['check', 'edge.yaml'], folder),
      edgeproof(['check', 'wrong.yaml'], folder),
      edgeproof(['check', 'shape.yaml'], folder),
      edgeproof(['prove', 'gate.yaml'], folder),
      edgeproof(['diff', 'edge.yaml', 'none.yaml'], folder),
    ]);
    expect(good).toMatchObject({ code: 0, stdout: 'edge.yaml: no problems found\n' });
    expect(wrong).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/wrong\.yaml:2:10 error property\.unknown_use[^]*backend-only-from/),
    });
    expect(shape).toMatchObject({ code: 3, stdout: expect.stringContaining('edge.unknown_value') });
    expect(gate).toMatchObject({ code: 3, stderr: expect.stringContaining('property.unknown_gate') });
    expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('PROVED EQUIVALENT') });
  });
});

interface Certificate {
  format: number;
  readonly claim: { readonly property: { where?: string; readonly never: { backend?: string } } };
  readonly hashes: string[];
  readonly tests: { readonly field: string; readonly table: { accepts: number[] } }[];
  tree: { yes?: unknown; no?: unknown; empty?: string };
}

interface Written {
  readonly files: readonly string[];
  readonly certificates: readonly Certificate[];
}

/** A change of each part. */
const TAMPERINGS: readonly ((certificate: Certificate) => void)[] = [
  ({ claim }) => void (claim.property.never.backend = 'app'),
  ({ claim }) => void (claim.property.where = 'true'),
  ({ hashes }) => void (hashes[0] = '0'.repeat(64)),
  (certificate) => void (certificate.format = 1),
  ({ tests }) => {
    for (const { table } of tests) table.accepts = table.accepts.map((each) => 1 - each);
  },
  ({ tests }) => void tests.splice(1),
  (certificate) => void (certificate.tree = { empty: 'path' }),
  ({ tree }) => void ([tree.yes, tree.no] = [tree.no, tree.yes]),
];

describe('certificates', () => {
  const folder = folderWith({
    'edge.yaml': edge({ more: OFFICE }),
    'same.yaml': edge({ more: CLOSED }).replace(
      '10.0.0.0/8',
      '10.0.0.0/9, action: allow}, {cidr: 10.128.0.0/9',
    ),
    'open.yaml': edge({ cidr: '0.0.0.0/0' }),
    'opaque.yaml': edge({
      more: "properties: [{name: n, where: 'size(req.headers) > 40', never: {end: forwarded}}]\n",
    }),
    'stopped.yaml': edge({
      more: 'properties: [{name: n, where: \'req.url.path == "/a"\', never: {end: stopped}}]\n',
    }),
    'broken.yaml': 'edges: 1\n',
    'garbage.json': '{"files": ["edge.yaml"], "certificates": [{"claim": 1}]}',
    'text.json': 'certificate',
  });
  const verify = (...args: readonly string[]): Promise<Ran> => edgeproof(['verify-proof', ...args], folder);

  test('of properties', { timeout: 120_000 }, async () => {
    const proved = await edgeproof(['prove', 'edge.yaml', '--certificate', 'proof.json'], folder);
    expect(proved).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^PROVED/) });
    const text = readFileSync(join(folder, 'proof.json'), 'utf8');
    const tampered = TAMPERINGS.map((tamper) => {
      const [certificate] = (JSON.parse(text) as Written).certificates;
      tamper(certificate!);
      return certificate;
    });
    const { files } = JSON.parse(text) as Written;
    writeFileSync(join(folder, 'tampered.json'), JSON.stringify({ files, certificates: tampered }));
    const [good, renamed, other, refused] = await Promise.all([
      verify('proof.json'),
      verify('proof.json', 'same.yaml'),
      verify('proof.json', 'open.yaml'),
      verify('tampered.json'),
    ]);
    expect(good).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^VERIFIED {2}ops is reached from 10\.0\.0\.0\/8 only {3}\d+ classes of requests\n$/,
      ),
    });
    for (const each of [renamed, other])
      expect(each).toMatchObject({
        code: 6,
        stdout: expect.stringMatching(/^REFUSED .*other configurations/),
      });
    expect(refused.code).toBe(6);
    const verdicts = refused.stdout.trim().split('\n');
    expect(verdicts.map((line) => line.slice(0, 7))).toEqual(TAMPERINGS.map(() => 'REFUSED'));
    const [shown, notShown] = await Promise.all([
      verify('proof.json', '--json'),
      verify('tampered.json', '-r', 'json'),
    ]);
    const name = 'ops is reached from 10.0.0.0/8 only';
    expect([shown.code, JSON.parse(shown.stdout)]).toEqual([
      0,
      [{ verdict: 'VERIFIED', name, classes: expect.any(Number) }],
    ]);
    expect(notShown.code).toBe(6);
    for (const each of JSON.parse(notShown.stdout) as readonly object[])
      expect(each).toEqual({ verdict: 'REFUSED', reason: expect.stringMatching(/./) });
  });

  test('of equivalence', { timeout: 120_000 }, async () => {
    const proved = await edgeproof(['diff', 'edge.yaml', 'same.yaml', '--certificate', 'same.json'], folder);
    expect(proved).toMatchObject({ code: 0, stdout: expect.stringContaining('PROVED EQUIVALENT') });
    const [good, swapped, one] = await Promise.all([
      verify('same.json'),
      verify('same.json', 'edge.yaml', 'open.yaml'),
      verify('same.json', 'edge.yaml'),
    ]);
    expect(good).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^VERIFIED {2}the configurations are equivalent/),
    });
    for (const each of [swapped, one])
      expect(each).toMatchObject({ code: 6, stdout: expect.stringMatching(/^REFUSED/) });
    const different = await edgeproof(
      ['diff', 'edge.yaml', 'open.yaml', '--certificate', 'none.json'],
      folder,
    );
    expect(different.code).toBe(5);
  });

  test('that cannot be written, and files without one', { timeout: 120_000 }, async () => {
    const [stopped, opaque, broken, garbage, text, missing] = await Promise.all([
      edgeproof(['prove', 'stopped.yaml', '--certificate', 'stopped.json'], folder),
      edgeproof(['prove', 'opaque.yaml', '--certificate', 'opaque.json'], folder),
      verify('garbage.json', 'broken.yaml'),
      verify('garbage.json'),
      verify('text.json'),
      verify('missing.json'),
    ]);
    expect(stopped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^PROVED/) });
    expect(await verify('stopped.json')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^VERIFIED/),
    });
    expect(opaque.stderr).toBe(
      "no certificate of 'n': it is not proved\nopaque.json is not written: there is nothing to certify\n",
    );
    expect(existsSync(join(folder, 'opaque.json'))).toBe(false);
    expect([opaque.code, broken.code, garbage.code]).toEqual([7, 3, 6]);
    expect(text).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('this is not a file of certificates'),
    });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot read missing.json') });
  });
});
