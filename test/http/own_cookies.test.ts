import { describe, expect, it } from 'vitest';
import { ownCookies } from '../../src/http/own_cookies.ts';
import { cpuMs } from '../cpu_time.ts';

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

it.each(['service.session', ' service.session ', '\t"service.session" ', '" service.session'])(
  'spaces and quotes around a name do not make it another: %j',
  (name) => expect(own.isOwn(name)).toBe(true),
);
