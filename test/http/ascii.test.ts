import { describe, expect, it } from 'vitest';
import { asciiLower } from '../../src/http/ascii.ts';
import { parseAuthority } from '../../src/http/host.ts';

const KELVIN = '\u212a';

describe('letter case of ASCII', () => {
  it('does not change other letters', () => {
    expect(asciiLower(`KEVIN@${KELVIN}.test \u0130\u00c4`)).toBe(`kevin@${KELVIN}.test \u0130\u00c4`);
  });

  it('does not equate hosts that only Unicode case folding would', () => {
    expect(parseAuthority(`wi${KELVIN}i.test`)).toBeNull();
    expect(parseAuthority('WIKI.test')?.host).toBe('wiki.test');
  });
});
