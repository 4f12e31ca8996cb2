import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordingOf } from '../../src/cli/recording.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { checked, configOf, policyOf } from './edges.ts';

/** A policy whose token is in a field of this name. */
const tokenIn = (name: string) =>
  policyOf([
    {
      actions: [
        {
          type: 'jwt-validation',
          config: {
            issuer: { allow_list: [{ value: 'https://idp.test' }] },
            http: { tokens: [{ type: 'jwt', method: 'header', name, prefix: '' }] },
            jws: {
              allowed_algorithms: ['ES256'],
              keys: { sources: { additional_jkus: ['https://idp.test/keys'] } },
            },
          },
        },
      ],
    },
  ]);

it('a recording redacts what each configuration so far declares secret', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'edgeproof-recording-'));
  const record = join(folder, 'recording.ndjson');
  let config = checked(configOf(tokenIn('x-first')));
  const recording = (await recordingOf(() => config, { record }))!;
  const edge = createEdge(config, { recordingSink: recording.sink });
  const listening = await edge.listen({});
  const send = async (): Promise<void> => {
    const headers = { 'x-first': 'first.to.ken', 'x-second': 'second.to.ken', 'x-other': 'other value' };
    await (await fetch(listening.url, { headers: { ...headers, 'x-secret': 'webhook secret' } })).text();
  };
  await send();
  config = checked(
    configOf({
      ...tokenIn('x-second'),
      webhook_verification: { provider: 'github', secret: 'webhook secret' },
    }),
  );
  edge.swap(config);
  await send();
  await listening.close(0);
  await recording.close();
  const [, before, after] = (await readFile(record, 'utf8')).split('\n');
  expect(before).toContain('second.to.ken');
  expect(before).not.toContain('first.to.ken');
  for (const secret of ['first.to.ken', 'second.to.ken', 'webhook secret'])
    expect(after).not.toContain(secret);
  expect(after).toContain('other value');
  await rm(folder, { recursive: true });
});
