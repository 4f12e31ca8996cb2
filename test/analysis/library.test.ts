import { join } from 'node:path';
import { expect, expectTypeOf, test } from 'vitest';
import {
  type EdgeConfigInput,
  type ReadyParameters,
  classes,
  createEdge,
  diff,
  findings,
  mutate,
  prove,
  readyProperty,
} from '../../src/index.ts';
import { folderWith } from '../folder.ts';
import { oneRoute } from '../one_route.ts';

const gated = (more: object = {}) =>
  createEdge(
    oneRoute(
      { ip_restriction: { ip_policy_ids: ['office'] }, ...more },
      { ip_policies: { office: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } } },
    ) as EdgeConfigInput,
  ).config;

test('what the verbs find out, as data', () => {
  const config = gated();
  const property = readyProperty('backend-only-from', { backend: 'app', ranges: ['10.0.0.0/8'] });
  expect(property.name).toBe('app is reached from 10.0.0.0/8 only');
  expect(prove(config, property)).toMatchObject({ verdict: 'PROVED' });
  const open = gated({ ip_restriction: undefined });
  expect(prove(open, property)).toMatchObject({ verdict: 'REFUTED', observed: { backend: 'app' } });
  expect(diff({ config }, { config: open })).toMatchObject({
    verdict: 'different',
    changes: [{ change: 'OPENED' }],
  });
  expect(classes(config).map(({ outcome }) => outcome)).toContain('denied by ip_restriction');
  const long = gated({ oauth: { provider: { google: {} }, maximum_duration: 864_000 } });
  expect(findings(long, { sessionBoundMs: 86_400_000 })).toMatchObject([
    { code: 'analysis.long_session', basis: 'settings' },
  ]);
});

test('parameters of ready-made properties have types', () => {
  expectTypeOf<ReadyParameters<'path-only-from'>>().toEqualTypeOf<{
    readonly path: string;
    readonly ranges: readonly string[];
  }>();
  // @ts-expect-error no such property
  expect(() => readyProperty('path-needs-logins', { path: '/' })).toThrow(
    "'path-needs-logins'; did you mean path-needs-login?",
  );
  // @ts-expect-error a parameter is missing
  expect(() => readyProperty('path-needs-login', {})).toThrow(/needs the parameter 'path': a path/);
  // @ts-expect-error not a list
  expect(() => readyProperty('backend-only-from', { backend: 'app', ranges: '::/0' })).toThrow(
    /'ranges': list/,
  );
  expect(() => readyProperty('https-only', { path: '/' } as never)).toThrow(/has no parameter 'path'/);
});

test('mutate says which mistakes no case notices', async () => {
  const folder = folderWith({
    'edge.json': JSON.stringify(oneRoute()),
    'a.scenario.json': JSON.stringify({
      edge: './edge.json',
      cases: [{ name: 'open', request: { url: 'https://shop.test/' }, expect: { status: 200 } }],
    }),
  });
  const mutated = await mutate(join(folder, 'a.scenario.json'), { max: 50 });
  expect(mutated).toMatchObject({ left: 0, survivors: expect.any(Array) });
  expect('killed' in mutated && mutated.killed).toBeGreaterThan(0);
});
