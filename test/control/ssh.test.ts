import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSshKey } from '../../src/crypto/ssh_keys.ts';
import { readCertificate } from '../crypto/ssh_reader.ts';
import { type Answer, type Instance, startInstance } from './instance.ts';

/** SSH authorities, certificates and credentials; `ssh_openssh.test.ts` shows them to OpenSSH. */

const NOW = Date.parse('2026-03-01T10:00:00Z');
const AUTHORITIES = '/ssh_certificate_authorities';

let instance: Instance;
let subject: string;
beforeAll(async () => {
  instance = await startInstance({ nowMs: () => NOW });
  subject = (await newSshKey({ type: 'ed25519' })).publicKey;
});
afterAll(() => instance.close());

const post = (path: string, body: object): Promise<Answer> => instance.call('POST', path, body);
const refusal = ({ status, body }: Answer) => [status, body.error_code, body.details?.pointer];
const code = (number: number): string => `ERR_SERVICE_${number}`;

describe('SSH certificate authorities', () => {
  it.each<[object, string, string]>([
    [{}, 'ed25519', 'ssh-ed25519'],
    [{ private_key_type: '', elliptic_curve: '', key_size: 0 }, 'ed25519', 'ssh-ed25519'],
    [{ private_key_type: 'ecdsa' }, 'ecdsa', 'ecdsa-sha2-nistp256'],
    [{ private_key_type: 'ecdsa', elliptic_curve: 'P-384' }, 'ecdsa', 'ecdsa-sha2-nistp384'],
    [{ private_key_type: 'ecdsa', elliptic_curve: 'nistp521' }, 'ecdsa', 'ecdsa-sha2-nistp521'],
    [{ private_key_type: 'rsa', key_size: 2048 }, 'rsa', 'ssh-rsa'],
  ])('have a key of their own, and sign with it: %j', async (parameters, type, format) => {
    const { status, body } = await post(AUTHORITIES, parameters);
    expect([status, Object.keys(body)]).toEqual([201, ['created_at', 'id', 'key_type', 'public_key', 'uri']]);
    expect([body.key_type, body.public_key.split(' ')[0]]).toEqual([type, format]);
    const signed = await instance.make('/ssh_host_certificates', {
      ssh_certificate_authority_id: body.id,
      public_key: body.public_key,
    });
    const certificate = readCertificate(signed.certificate);
    expect(certificate).toMatchObject({
      format: `${format}-cert-v01@openssh.com`,
      key: body.public_key,
      authority: body.public_key,
      isSigned: true,
    });
    expect(signed.key_type).toBe(type);
  });

  it.each<[object, number, string]>([
    [{ private_key_type: 'dsa' }, 1936, '/private_key_type'],
    [{ private_key_type: 'RSA' }, 1936, '/private_key_type'],
    [{ private_key_type: 7 }, 1936, '/private_key_type'],
    [{ private_key_type: 'rsa', key_size: 1024 }, 1939, '/key_size'],
    [{ private_key_type: 'rsa', key_size: 3072 }, 1939, '/key_size'],
    [{ private_key_type: 'rsa', key_size: 2048.5 }, 1939, '/key_size'],
    [{ key_size: 2048 }, 1940, '/key_size'],
    [{ private_key_type: 'ecdsa', elliptic_curve: 'p224' }, 1941, '/elliptic_curve'],
    [{ private_key_type: 'ecdsa', elliptic_curve: 'curve25519' }, 1941, '/elliptic_curve'],
    [{ private_key_type: 'rsa', elliptic_curve: 'p256' }, 1942, '/elliptic_curve'],
    [{ description: 'x'.repeat(256) }, 1937, '/description'],
    [{ metadata: 'x'.repeat(4097) }, 1938, '/metadata'],
  ])('are refused: %j', async (body, number, pointer) => {
    expect(refusal(await post(AUTHORITIES, body))).toEqual([400, code(number), pointer]);
  });

  it('never show their private key, and keep it sealed', async () => {
    const made = await instance.make(AUTHORITIES, { description: 'sealed' });
    const key = await instance.management.store.read(async (view) => {
      const { body } = (await view.get(made.id))!;
      return String(body['private_key_pem']);
    });
    expect(key).toContain('PRIVATE KEY');
    const secret = key.split('\n')[1]!;
    const files = readdirSync(instance.folder).filter((name) => name.endsWith('db') || name.endsWith('wal'));
    const atRest = files.map((name) => readFileSync(join(instance.folder, name), 'latin1')).join('');
    const audit = await instance.management.store.read((view) => view.audit(1000));
    const answers = [
      await instance.call('GET', `${AUTHORITIES}/${made.id}`),
      await instance.call('GET', AUTHORITIES),
      await instance.call('PATCH', `${AUTHORITIES}/${made.id}`, { metadata: 'x' }),
    ];
    expect(atRest).toContain(made.id);
    expect(atRest + JSON.stringify([made, audit, answers])).not.toContain(secret);
  });

  it('cannot be deleted as long as there are certificates of theirs', async () => {
    const { id } = await instance.make(AUTHORITIES, {});
    const body = { ssh_certificate_authority_id: id, public_key: subject };
    const host = await instance.make('/ssh_host_certificates', body);
    const user = await instance.make('/ssh_user_certificates', body);
    const at = `${AUTHORITIES}/${id}`;
    for (const path of [`/ssh_host_certificates/${host.id}`, `/ssh_user_certificates/${user.id}`]) {
      expect(refusal(await instance.call('DELETE', at)).slice(0, 2)).toEqual([400, code(1964)]);
      expect((await instance.call('DELETE', path)).status).toBe(204);
    }
    expect((await instance.call('DELETE', at)).status).toBe(204);
    expect(refusal(await instance.call('GET', at)).slice(0, 2)).toEqual([404, code(1949)]);
  });
});

describe('SSH certificates', () => {
  let authority: Answer['body'];
  beforeAll(async () => {
    authority = await instance.make(AUTHORITIES, {});
  });
  const certify = (kind: 'host' | 'user', more: object = {}) =>
    post(`/ssh_${kind}_certificates`, {
      ssh_certificate_authority_id: authority.id,
      public_key: `${subject} me@home`,
      ...more,
    });

  it.each([
    ['host', 2, {}, '2027-03-01T10:00:00Z'],
    ['user', 1, { 'permit-pty': '', 'permit-user-rc': '' }, '2026-03-02T10:00:00Z'],
  ] as const)(
    'of the kind %s have the defaults of the specification',
    async (kind, type, extensions, until) => {
      const { status, body } = await certify(kind);
      expect(status).toBe(201);
      const { certificate, ...shown } = body;
      expect(shown).toEqual({
        created_at: '2026-03-01T10:00:00Z',
        ...(kind === 'user' && { critical_options: {}, extensions }),
        id: body.id,
        key_type: 'ed25519',
        principals: [],
        public_key: `${subject} me@home`,
        ssh_certificate_authority_id: authority.id,
        uri: `${instance.url}/ssh_${kind}_certificates/${body.id}`,
        valid_after: '2026-03-01T10:00:00Z',
        valid_until: until,
      });
      expect(certificate.split(' ')[2]).toBe(body.id);
      expect(readCertificate(certificate)).toMatchObject({
        key: subject,
        authority: authority.public_key,
        serial: 0n,
        type,
        keyId: body.id,
        principals: [],
        validAfter: NOW / 1000,
        validBefore: Date.parse(until) / 1000,
        criticalOptions: {},
        extensions,
        reserved: '',
        isSigned: true,
      });
    },
  );

  it('contain what the request says', async () => {
    const given = {
      principals: ['ec2-user', 'root', 'grün'],
      critical_options: { 'source-address': '192.0.2.0/24,2001:db8::1', 'force-command': 'echo "hi"' },
      extensions: { 'permit-X11-forwarding': '', 'permit-agent-forwarding': '', 'a@b.test': 'value' },
      valid_after: '2026-05-01T02:00:00.999+02:00',
      valid_until: '2026-05-01T00:00:01Z',
    };
    const { body } = await certify('user', given);
    const times = { valid_after: '2026-05-01T00:00:00Z', valid_until: '2026-05-01T00:00:01Z' };
    expect(body).toMatchObject({ ...given, ...times });
    expect(readCertificate(body.certificate)).toMatchObject({
      principals: given.principals,
      criticalOptions: given.critical_options,
      extensions: given.extensions,
      validAfter: Date.parse(times.valid_after) / 1000,
      validBefore: Date.parse(times.valid_until) / 1000,
      isSigned: true,
    });
    const changed = await instance.call('PATCH', `/ssh_user_certificates/${body.id}`, { metadata: 'new' });
    expect(changed.body).toEqual({ ...body, metadata: 'new' });
    const none = await certify('user', { extensions: {}, valid_after: '', valid_until: '' });
    expect(readCertificate(none.body.certificate).extensions).toEqual({});
    const nonces = [body, none.body].map(({ certificate }) => readCertificate(certificate).nonce);
    expect(new Set(nonces).size).toBe(2);
  });

  it.each<['host' | 'user', object, number, string]>([
    ['host', { public_key: '' }, 1952, '/public_key'],
    ['host', { public_key: 'ssh-ed25519 AAAA' }, 1934, '/public_key'],
    ['host', { public_key: 'ssh-dss AAAAB3NzaC1kc3MAAAABAQ==' }, 1950, '/public_key'],
    [
      'host',
      { ssh_certificate_authority_id: `sshca_${'0'.repeat(27)}` },
      1951,
      '/ssh_certificate_authority_id',
    ],
    ['user', { ssh_certificate_authority_id: `ca_${'0'.repeat(27)}` }, 227, '/ssh_certificate_authority_id'],
    ['host', { valid_until: '2026-03-01T10:00:00Z' }, 1963, '/valid_until'],
    ['user', { valid_until: '2026-02-01T10:00:00Z' }, 1962, '/valid_until'],
    ['user', { valid_after: 'tomorrow' }, 241, '/valid_after'],
    ['user', { valid_until: '2026-02-30T10:00:00Z' }, 241, '/valid_until'],
    ['user', { valid_after: '1969-12-31T23:59:59Z' }, 241, '/valid_after'],
    ['user', { principals: ['a', ''] }, 215, '/principals/1'],
    ['user', { principals: ['a\u0000b'] }, 215, '/principals/0'],
    ['user', { principals: Array(257).fill('a') }, 215, '/principals'],
    ['user', { critical_options: { 'force-comand': 'x' } }, 215, '/critical_options/force-comand'],
    ['user', { critical_options: { 'force-command': ' ' } }, 215, '/critical_options/force-command'],
    ['user', { critical_options: { 'source-address': 'home' } }, 215, '/critical_options/source-address'],
    ['user', { critical_options: { 'source-address': '' } }, 215, '/critical_options/source-address'],
    ['user', { extensions: { 'permit-pty': 'yes' } }, 215, '/extensions/permit-pty'],
    ['user', { extensions: { '': '' } }, 215, '/extensions/'],
    ['host', { extensions: {} }, 214, '/extensions'],
    ['host', { description: 'x'.repeat(256) }, 1945, '/description'],
    ['user', { metadata: 'x'.repeat(4097) }, 1948, '/metadata'],
  ])('of the kind %s are refused: %j', async (kind, body, number, pointer) => {
    expect(refusal(await certify(kind, body))).toEqual([400, code(number), pointer]);
  });
});

describe('SSH credentials', () => {
  it.each<[object, number, string]>([
    [{ acl: ['bind'] }, 600, '/acl/0'],
    [{ acl: ['*', 'bind:'] }, 600, '/acl/1'],
    [{ acl: ['bind:a b'] }, 600, '/acl/0'],
    [{ acl: ['bind:=x'] }, 600, '/acl/0'],
    [{ acl: 'bind:a' }, 600, '/acl'],
    [{ public_key: undefined }, 611, '/public_key'],
    [{ public_key: ' ' }, 611, '/public_key'],
    [{ public_key: 'ssh-dss AAAAB3NzaC1kc3MAAAABAQ==' }, 612, '/public_key'],
    [{ owner_id: 'bot_0' }, 633, '/owner_id'],
  ])('are refused: %j', async (body, number, pointer) => {
    const answer = await post('/ssh_credentials', { public_key: subject, ...body });
    expect(refusal(answer)).toEqual([400, code(number), pointer]);
  });

  it('are shown as written, once for each key', async () => {
    const acl = ['*', 'bind:*', 'bind:*.a.test', 'bind:1.tcp.a.test:20002', 'bind:*=x', 'bind:app='];
    const made = await instance.make('/ssh_credentials', { public_key: `${subject} me\n`, acl });
    expect(Object.keys(made)).toEqual(['acl', 'created_at', 'id', 'owner_id', 'public_key', 'uri']);
    expect(made).toMatchObject({
      acl,
      public_key: `${subject} me`,
      owner_id: expect.stringMatching(/^usr_/),
    });
    const again = await post('/ssh_credentials', { public_key: `${subject} other` });
    expect(refusal(again)).toEqual([409, code(609), '/public_key']);
    const at = `/ssh_credentials/${made.id}`;
    expect(refusal(await instance.call('PATCH', at, {})).slice(0, 2)).toEqual([400, code(606)]);
    expect((await instance.call('PATCH', at, { acl: [] })).body.acl).toEqual([]);
    await instance.call('DELETE', at);
    await instance.make('/ssh_credentials', { public_key: subject });
  });

  it('of the other kind have the same rules', async () => {
    expect(refusal(await post('/credentials', { acl: ['bond:x'] }))).toEqual([400, code(600), '/acl/0']);
  });
});
