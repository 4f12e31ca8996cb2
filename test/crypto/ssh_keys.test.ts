import { describe, expect, it } from 'vitest';
import { newSshKey, readSshPublicKey, sshKeyFingerprint } from '../../src/crypto/ssh_keys.ts';
import { sshString } from '../../src/crypto/ssh_wire.ts';

const kinds = [
  { type: 'ed25519' },
  { type: 'ecdsa', curve: 'nistp256' },
  { type: 'ecdsa', curve: 'nistp384' },
  { type: 'ecdsa', curve: 'nistp521' },
  { type: 'rsa', bits: 2048 },
] as const;

const keys = await Promise.all(kinds.map((kind) => newSshKey(kind)));
const [ed25519, ecdsa, , , rsa] = keys.map(({ publicKey }) => publicKey) as [
  string,
  string,
  string,
  string,
  string,
];
const blobOf = (line: string): Buffer => Buffer.from(line.split(' ')[1]!, 'base64');
const lineOf = (format: string, ...parts: readonly (string | Uint8Array)[]): string =>
  `${format} ${Buffer.concat([format, ...parts].map(sshString)).toString('base64')}`;

describe('public keys of SSH', () => {
  it.each(kinds.map((kind, index) => [kind.type, keys[index]!] as const))(
    'are read as they were generated: %s',
    (type, { publicKey, privateKeyPem }) => {
      expect(privateKeyPem).toContain('BEGIN PRIVATE KEY');
      for (const line of [
        publicKey,
        `${publicKey}\n`,
        `${publicKey} me@home with words`,
        `${publicKey}\tx`,
      ]) {
        expect(readSshPublicKey(line)).toMatchObject({ type, format: publicKey.split(' ')[0] });
      }
    },
  );

  it('have the fingerprint that ssh-keygen prints', () => {
    // ssh-keygen -l -f key.pub
    const line = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMdsm12ZpaVNO+OUUG4Q5L0CTZBvuQpDC29ZSv4fAwFb';
    const key = readSshPublicKey(line);
    expect('blob' in key && sshKeyFingerprint(key)).toBe(
      'SHA256:5mnZGlOOIwmYoVk3tN9x85dgQfcj5LAu3a0w9MFseeM',
    );
  });

  const point = blobOf(ecdsa).subarray(-65);
  const rsaParts = ((): [Buffer, Buffer] => {
    const blob = blobOf(rsa);
    return [blob.subarray(15, 18), blob.subarray(22)];
  })();
  it.each<[string, string, RegExp]>([
    ['nothing', '', /form/],
    ['a word', 'nonsense', /form/],
    ['a private key', keys[0]!.privateKeyPem, /private key/],
    ['PEM', '-----BEGIN PUBLIC KEY-----', /form/],
    ['options', `command="x" ${ed25519}`, /form/],
    ['two keys', `${ed25519}\n${ed25519}`, /form/],
    ['a control character in the comment', `${ed25519} a\u0007b`, /form/],
    ['too much', `${ed25519} ${'x'.repeat(9_000)}`, /too long/],
    ['base64 that is not canonical', lineOf('ssh-ed25519', Buffer.alloc(33)).replace('A==', 'B=='), /base64/],
    [
      'base64 without padding',
      lineOf('ssh-ed25519', Buffer.alloc(32), 'x').replace(/=+$/, ''),
      /base64|form/,
    ],
    ['another name than in the key', ed25519.replace('ssh-ed25519', 'ssh-rsa'), /type ssh-rsa/],
    ['a key that is cut off', `ssh-ed25519 ${blobOf(ed25519).subarray(0, 48).toString('base64')}`, /type/],
    ['bytes after the key', lineOf('ssh-ed25519', Buffer.alloc(32, 1), 'more'), /canonical/],
    ['a short key', lineOf('ssh-ed25519', Buffer.alloc(31, 1)), /valid key/],
    ['a point off the curve', lineOf('ecdsa-sha2-nistp256', 'nistp256', changed(point)), /valid key/],
    ['a point at infinity', lineOf('ecdsa-sha2-nistp256', 'nistp256', Buffer.of(0)), /valid key/],
    ['another curve', lineOf('ecdsa-sha2-nistp256', 'nistp384', point), /canonical/],
    ['a compressed point', lineOf('ecdsa-sha2-nistp256', 'nistp256', point.subarray(0, 33)), /valid key/],
    [
      'a number with a leading zero',
      lineOf('ssh-rsa', Buffer.concat([Buffer.of(0), rsaParts[0]]), rsaParts[1]),
      /canonical/,
    ],
    ['a negative modulus', lineOf('ssh-rsa', rsaParts[0], rsaParts[1].subarray(1)), /canonical/],
    ['an even exponent', lineOf('ssh-rsa', Buffer.of(4), rsaParts[1]), /exponent/],
    [
      'a short RSA key',
      lineOf('ssh-rsa', rsaParts[0], Buffer.concat([Buffer.of(0), rsaParts[1].subarray(1, 129)])),
      /1024 bits/,
    ],
  ])('are refused: %s', (_, text, problem) => {
    const answer = readSshPublicKey(text);
    expect(answer).toMatchObject({ isOtherFormat: false, problem: expect.stringMatching(problem) });
  });

  it.each(['ssh-dss', 'sk-ssh-ed25519@openssh.com', 'ssh-ed25519-cert-v01@openssh.com'])(
    'of the type %s are distinguished',
    (format) => {
      expect(readSshPublicKey(lineOf(format, 'x'))).toEqual({
        isOtherFormat: true,
        problem: `is of the type ${format}`,
      });
    },
  );
});

/** The same bytes with one changed. */
function changed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[10]! ^= 1;
  return copy;
}
