import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from '../cli/command.ts';
import { onePolicy } from '../one_route.ts';
import { CASES, POLICY } from './policy_text.ts';

const EDGE = fileURLToPath(new URL('../../fixtures/sample/edge.yaml', import.meta.url));
const LENGTH = onePolicy({
  on_http_request: [
    {
      name: 'exact',
      expressions: ["getReqHeader('content-length')[0] == '77'"],
      actions: [{ type: 'deny' }],
    },
  ],
});
const folder = folderWith({
  'policy.yaml': POLICY,
  'a.scenario.yaml': CASES,
  'length.yaml': JSON.stringify(LENGTH),
});

const run = (...args: string[]) => edgeproof(args, folder);

describe('edgeproof explain --why-not', () => {
  it('finds one field, prints it, and shows the request with it', async () => {
    const { code, stdout } = await run(
      'explain',
      'GET',
      'https://shop.test/admin',
      '-H',
      'user-agent: x',
      '-e',
      EDGE,
      '--why-not',
      'office#3',
    );
    expect(stdout).toMatch(
      /^It would need 1 change:\n {2}from 203\.0\.113\.\d+ instead of 203\.0\.113\.9\nThen rule office#3 decides:\n/,
    );
    expect(stdout).toContain('└ 403  ip_restriction.denied');
    expect(code).toBe(0);
  });

  it('finds pairs without redundant changes', async () => {
    const { stdout } = await run(
      'explain',
      'GET',
      'https://shop.test/',
      '-e',
      EDGE,
      '--why-not',
      'deny[0]',
      '--json',
    );
    const found = JSON.parse(stdout) as { changes: string[]; request: Record<string, unknown> };
    expect(found.changes[0]).toBe('at path /admin');
    expect(found.changes).toHaveLength(2);
    expect(found.request).toMatchObject({
      path: '/admin',
      headers: { 'user-agent': expect.stringMatching(/bot|crawler|spider/) as string },
    });
  });

  it('makes a body for a length: a header that lies about it would not be sent', async () => {
    const { stdout } = await run(
      'explain',
      'POST',
      'https://shop.test/',
      '-e',
      'length.yaml',
      '--why-not',
      'exact',
      '--json',
    );
    const { request } = JSON.parse(stdout) as { request: Record<string, unknown> };
    expect(request).toMatchObject({ body: 'x'.repeat(77) });
    expect(request).not.toHaveProperty('headers');
  });

  it('adds earlier requests for a breaker', async () => {
    const { stdout } = await run(
      'explain',
      'GET',
      'https://shop.test/api',
      '-e',
      EDGE,
      '--why-not',
      'circuit_breaker',
    );
    expect(stdout).toMatch(/after \d+ such requests that fail/);
    expect(stdout).toContain('└ 503  circuit_breaker.open');
  });

  it('reports when it happens already, cannot happen, or the name is unknown', async () => {
    const already = await run('explain', 'GET', 'https://shop.test/admin', '-e', EDGE, '--why-not', '/admin');
    expect(already.stdout).toBe('route /admin is taken for this request.\n');
    const unknown = await run('explain', 'GET', 'https://shop.test/', '-e', EDGE, '--why-not', 'ofice#3');
    expect(unknown).toMatchObject({
      code: 2,
      stderr: "the edge has nothing with the name 'ofice#3'; did you mean 'office#3'?\n",
    });
    const args = ['explain', '--scenario', 'a.scenario.yaml', '--case', 'strangers stay out'];
    const never = await run(...args, '--why-not', 'twice');
    expect(never.stdout).toMatch(
      /^There is no request for which rule twice decides: its expressions contradict/,
    );
  });

  it('explains a case, and the changes for another result', async () => {
    const args = ['explain', '--scenario', 'a.scenario.yaml', '--case', 'strangers stay out'];
    expect((await run(...args)).stdout).toContain('└ 403  traffic_policy.denied');
    const { stdout } = await run(...args, '--why-not', 'rate_limit.limited');
    expect(stdout).toMatch(/^It would need 4 changes:\n {2}with header x-team: x\n/);
    expect(stdout).toContain('└ 429  traffic_policy.denied');
    expect(await run('explain', '--scenario', 'a.scenario.yaml', '--case', 'no')).toMatchObject({ code: 2 });
    expect(await run('explain')).toMatchObject({ code: 2 });
  });
});
