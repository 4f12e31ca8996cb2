import { Webhooks } from '@octokit/webhooks';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { findProvider } from '../../src/mechanisms/webhook/table.ts';
import { verifyWebhook } from '../../src/mechanisms/webhook/verify.ts';
import { requestOf } from './requests.ts';

const SECRET = 'github secret';
const github = findProvider('github')!;
const octokit = new Webhooks({ secret: SECRET });
// The package types its file as a constant of several megabytes, which no compiler should be asked to read.
const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly unknown[];
}[];
const payloads = examples.flatMap(({ name, examples: of }) =>
  of.map((payload, at) => ({ name: `${name} ${at}`, payload })),
);

test(`every example payload of the provider, signed by its library, is let in, and with a byte changed is not`, async () => {
  expect(payloads.length).toBeGreaterThan(300);
  for (const [at, { name, payload }] of payloads.entries()) {
    const body = JSON.stringify(payload, null, at % 3);
    const request = requestOf({ headers: { 'X-Hub-Signature-256': await octokit.sign(body) }, body });
    expect(verifyWebhook(github, SECRET, request, 0).outcome, name).toBe('verified');
    const changed = Buffer.from(request.body);
    changed[(at * 7919) % changed.length]! ^= 1 << (at % 8);
    expect(verifyWebhook(github, SECRET, { ...request, body: changed }, 0).outcome, name).toBe('refused');
  }
});
