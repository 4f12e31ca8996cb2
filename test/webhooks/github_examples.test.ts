import { expect, test } from 'vitest';
import { findProvider } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { hasLibrariesFor } from '../peers.ts';
import { requestOf } from './requests.ts';

const SECRET = 'github secret';
const github = findProvider('github')!;
const hasLibraries = hasLibrariesFor('the example payloads of GitHub');

test.skipIf(!hasLibraries)(
  `every example payload of the provider, signed by its library, is accepted, and refused with a changed byte`,
  async () => {
    const { octokitExamples, OctokitWebhooks } = await import('./sdk/libraries.ts');
    const octokit = new OctokitWebhooks({ secret: SECRET });
    const payloads = octokitExamples.flatMap(({ name, examples: of }) =>
      of.map((payload, at) => ({ name: `${name} ${at}`, payload })),
    );
    expect(payloads.length).toBeGreaterThan(300);
    for (const [at, { name, payload }] of payloads.entries()) {
      const body = JSON.stringify(payload, null, at % 3);
      const request = requestOf({ headers: { 'X-Hub-Signature-256': await octokit.sign(body) }, body });
      const valid = verifyWebhook(github, SECRET, request, 0).outcome;
      const changed = Buffer.from(request.body);
      changed[(at * 7919) % changed.length]! ^= 1 << (at % 8);
      const spoilt = verifyWebhook(github, SECRET, { ...request, body: changed }, 0).outcome;
      expect({ name, valid, spoilt }).toEqual({ name, valid: 'verified', spoilt: 'refused' });
    }
  },
);
