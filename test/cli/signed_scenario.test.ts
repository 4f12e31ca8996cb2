import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const folder = folderWith({
  'edge.yaml': `backends: { app: { static: { address: "localhost:3000" } } }
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      routes:
        - match_type: path_prefix
          match: /hooks
          webhook_verification: { provider: github, secret: right }
          backend: { backend_id: app }
`,
});

const scenario = (secret: string, status: number) => `
edge: edge.yaml
clock: 2027-01-02T03:04:05Z
upstreams: { app: { status: 204 } }
cases:
  - name: a signed webhook
    request:
      method: POST
      url: https://shop.test/hooks
      json: { action: opened }
      sign: { provider: github, secret: ${secret} }
    expect: { status: ${status} }
`;

it.each([
  ['right', 204, 0],
  ['wrong', 403, 0],
  ['wrong', 204, 1],
])('a request signed with the %s secret, expected to be %i, exits %i', async (secret, status, code) => {
  await writeFile(join(folder, 'hooks.scenario.yaml'), scenario(secret, status));
  const ran = await edgeproof(['test', 'hooks.scenario.yaml'], folder);
  expect({ code: ran.code, output: ran.stdout + ran.stderr }).toMatchObject({ code });
});

it('explains a signed case, and counts what it covers', async () => {
  await writeFile(join(folder, 'hooks.scenario.yaml'), scenario('right', 204));
  const explained = await edgeproof(
    ['explain', '--scenario', 'hooks.scenario.yaml', '--case', 'a signed webhook'],
    folder,
  );
  expect(explained.stdout + explained.stderr).toContain('webhook_verification');
  expect(explained.code).toBe(0);
  const covered = await edgeproof(
    ['cover', 'hooks.scenario.yaml', '--emit-cases', 'more.scenario.yaml'],
    folder,
  );
  expect(covered.stdout + covered.stderr).toContain('webhook_verification');
  expect(covered.code).toBe(0);
  const emitted = await edgeproof(['test', 'more.scenario.yaml'], folder);
  expect({ code: emitted.code, output: emitted.stdout + emitted.stderr }).toMatchObject({ code: 0 });
});
