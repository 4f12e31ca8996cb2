import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/control/resources/table.ts';
import { hasProgram } from '../peers.ts';
import { type Instance, startInstance } from './instance.ts';

/** A browser, where this machine has one. */
const CHROMIUM =
  ['chromium', 'chromium-browser', 'google-chrome'].find((name) =>
    hasProgram(name, ['--version'], 'the page of the API in a browser'),
  ) ?? null;

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

let instance: Instance;
let description: Description;
beforeAll(async () => {
  instance = await startInstance();
  description = (await instance.call('GET', '/openapi.json', undefined, { authorization: '' })).body;
});
afterAll(() => instance.close());

describe('the description of the API', () => {
  it('matches the reviewed snapshot (update with -u)', async () => {
    const { paths, components, ...rest } = description;
    // One line for each operation and each schema: a change is one line of a difference.
    const lines = [
      JSON.stringify(rest),
      ...Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(
          ([method, operation]) => `${method} ${path} ${JSON.stringify(operation)}`,
        ),
      ),
      ...Object.entries(components.schemas).map(([name, schema]) => `${name} ${JSON.stringify(schema)}`),
    ];
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('openapi.snapshot.txt');
  });

  it('has every operation of every resource with a unique name', () => {
    const { paths } = description;
    for (const { path, operations } of RESOURCES) {
      expect(Object.keys(paths[`${path}/{id}`] ?? {})).toEqual(
        expect.arrayContaining(operations.filter((each) => each === 'get' || each === 'delete')),
      );
      expect(operations).toContain(paths[path]!['post'] === undefined ? '' : 'create');
    }
    const ids = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(170);
  });

  it('has no dangling references', () => {
    const { schemas } = description.components;
    for (const [, name] of JSON.stringify(description).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(schemas).toHaveProperty(name!);
    }
  });

  it.skipIf(CHROMIUM === null)(
    'has a page that shows operations in a browser',
    async () => {
      const url = `${instance.url}/docs#${encodeURIComponent('create IP policy rule')}`;
      const args = [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--virtual-time-budget=8000',
        '--dump-dom',
        url,
      ];
      const { stdout } = await promisify(execFile)(CHROMIUM!, args, { maxBuffer: 2 ** 26 });
      expect(stdout).toContain(`curl -X POST ${instance.url}/ip_policy_rules`);
      expect(stdout).toMatch(/<code>cidr<\/code><\/td><td>string<\/td><td>Required\./);
      expect(stdout).toContain('answer: 201 IpPolicyRule');
    },
    60_000,
  );

  it('has a self-contained page', async () => {
    const response = await fetch(`${instance.url}/docs`);
    const page = await response.text();
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(page).not.toMatch(/https?:\/\//);
  });
});
