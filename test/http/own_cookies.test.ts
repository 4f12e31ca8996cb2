import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownCookies } from '../../src/http/own_cookies.ts';
import { withoutSecret } from '../../src/http/secrets.ts';
import { requestCookies } from '../../src/policy/env/cookies.ts';
import { cpuMs } from '../cpu_time.ts';
import { sized } from '../random.ts';

const own = ownCookies();
own.claim('service.session');

describe('cookies of the edge are found in linear time', () => {
  it.each([' ', '\t', '"', '=', ';', '.', 'a', ' "', '; a='])('in a long run of %j', (run) => {
    const value = `a${run.repeat(100_000 / run.length)}b=1; service.session=x`;
    const took = cpuMs(() => {
      expect(own.withheld(['cookie', value]).join('')).not.toContain('service.session');
      expect(own.hidden(['cookie', value]).join('')).toContain('service.session=***');
      own.unset(['set-cookie', value]);
    });
    expect(took).toBeLessThan(500);
  });
});

it('pairs are removed and hidden one by one, and all others stay as they are', () => {
  const pair = fc.constantFrom('', ' ', 'a', 'a=1', ' b=2=3', 'service.session', 'SERVICE_session =x', '=');
  const nameOf = (text: string) => text.slice(0, Math.max(0, text.indexOf('=')));
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 6 }), (pairs) => {
      const value = pairs.join(';');
      const kept = pairs.filter((each) => !own.isOwn(nameOf(each)));
      const hidden = pairs.map((each) => (own.isOwn(nameOf(each)) ? `${nameOf(each)}=***` : each));
      const isEdited = kept.length < pairs.length;
      const withheld = kept.length === 0 ? [] : ['cookie', kept.join(';').trim()];
      expect(own.withheld(['cookie', value])).toEqual(isEdited ? withheld : ['cookie', value]);
      expect(own.hidden(['cookie', value])).toEqual(['cookie', isEdited ? hidden.join(';').trim() : value]);
    }),
    sized(1_000, 4),
  );
});

it('a million semicolons are passed over', () => {
  const fields = ['cookie', `${';'.repeat(1_000_000)}service.session=x`];
  const took = cpuMs(() => {
    own.withheld(fields);
    own.hidden(fields);
    withoutSecret('cookie', fields[1]!);
    requestCookies(fields);
  });
  expect(took).toBeLessThan(200);
});

it.each(['service.session', ' service.session ', '\t"service.session" ', '" service.session'])(
  'spaces and quotes around a name do not make it another: %j',
  (name) => expect(own.isOwn(name)).toBe(true),
);
