import { describe, expect, test } from 'vitest';
import { isPrivateHost } from '../../src/net/private_hosts.ts';

describe('hosts that policies must not call', () => {
  test.each([
    'localhost',
    'a.localhost',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.0.1',
    '198.19.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fd00::1]',
    '[fe80::1]',
    '[fe80::1%eth0]',
    '[ff02::1]',
  ])('%s', (host) => {
    expect(isPrivateHost(host)).toBe(true);
  });

  test.each([
    'example.com',
    '8.8.8.8',
    '172.32.0.1',
    '[2606:4700::1111]',
    'localhost.example.com',
    'a1.example',
  ])('not %s', (host) => {
    expect(isPrivateHost(host)).toBe(false);
  });
});
