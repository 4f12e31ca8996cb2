import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identityFields, identityText } from '../../src/auth/identity.ts';
import { authorize } from '../../src/auth/oauth/authorization.ts';
import { userOf } from '../../src/auth/oidc/claims.ts';
import { isFieldValue } from '../../src/http/fields.ts';

const KELVIN = '\u212a';

describe('identity fields for the upstream', () => {
  it.each([
    ['admin', 'admin'],
    ['\u0430dmin', '%D0%B0dmin'],
    ['%D0%B0dmin', '%25D0%25B0dmin'],
    [' admin', '%20admin'],
    ['admin  ', 'admin%20%20'],
    ['Ann Smith', 'Ann Smith'],
    ['a\r\nb', 'a%0D%0Ab'],
  ])('encode %j as %j', (text, written) => expect(identityText(text)).toBe(written));

  it('are injective and valid field values', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '%', 'D', '0', 'B', ' ', '\u0430', '\ud800', '\udc00', '\u00e9'),
    });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const written = identityText(one);
        expect(isFieldValue(written) && written.trim() === written).toBe(true);
        expect(written === identityText(other)).toBe(one === other);
      }),
      { seed: 11, numRuns: 20_000 },
    );
  });

  it('contain tokens unchanged', () => {
    const tokens = { access: 'a%2Fb', refresh: null, id: null, expiresMs: null };
    const fields = identityFields('service-auth-', { id: '1', name: '', email: '', groups: [] }, tokens);
    expect(fields).toContain('a%2Fb');
  });
});

describe('authorization lists', () => {
  const access = {} as Parameters<typeof authorize>[2];
  const nobody = { emailAddresses: [], emailDomains: [], teams: [], organizations: [] };
  const decided = (email: string, criteria: Partial<typeof nobody>) => {
    const user = { id: '1', name: '', email, groups: [], emails: [email] };
    return authorize(user, { ...nobody, ...criteria }, access).next().value;
  };

  it('do not confuse similar characters', () => {
    const addresses = { emailAddresses: ['kim@shop.test'] as never };
    expect(decided('kim@shop.test', addresses)).toEqual({ by: 'email_addresses' });
    expect(decided(`${KELVIN}im@shop.test`, addresses)).toHaveProperty('refused');
    expect(decided(`a@wi${KELVIN}i.test`, { emailDomains: ['wiki.test'] as never })).toHaveProperty(
      'refused',
    );
  });

  it('compare addresses exactly except for ASCII case', () => {
    const claims = { sub: '1', email: `${KELVIN}IM@Shop.test`, email_verified: true };
    expect(userOf(claims, null).email).toBe(`${KELVIN}im@shop.test`);
  });
});
