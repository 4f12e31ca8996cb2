import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { PROVIDERS } from '../../src/webhooks/table.ts';
import { oneRoute } from '../one_route.ts';

/** Providers that sign nothing, with the field in which they send the secret. */
const UNSIGNED = PROVIDERS.flatMap(({ id, schemes }) =>
  schemes.flatMap(({ algorithm, key, signature }) =>
    signature.flatMap((place) =>
      algorithm === 'token' && 'prefix' in place ? [[id, place, key] as const] : [],
    ),
  ),
);

describe('a secret that a provider sends as it is', () => {
  it('is sent by some', () => {
    expect(UNSIGNED.map(([id]) => id)).toEqual(['gitlab', 'orbit', 'vmware']);
  });

  it.each(UNSIGNED)('is not in events: %s', async (provider, { lower, prefix }, key) => {
    const secret = key === 'user_and_password' ? 'ann::open-sesame' : 'open-sesame';
    const sent = key === 'user_and_password' ? btoa('ann:open-sesame') : secret;
    let events = '';
    const edge = createEdge(oneRoute({ webhook_verification: { provider, secret } }), {
      upstream: () => new Response('the app'),
      onEvent: (event) => void (events += JSON.stringify(event)),
    });
    const request = { method: 'POST', body: '{}', headers: { [lower]: prefix + sent } };
    const { response } = await edge.handle(new Request('https://shop.test/', request));
    expect(await response.text()).toBe('the app');
    expect(events.toLowerCase()).toContain(`"${lower}":["${prefix.toLowerCase()}[redacted]"]`);
    expect(events).not.toContain(sent.toLowerCase());
  });
});
