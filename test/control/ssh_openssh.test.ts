import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { hasProgram, skipped } from '../peers.ts';
import { type Answer, type Instance, startInstance } from './instance.ts';

/** OpenSSH reads the certificates of the API, and its server and client trust them. */

const run = promisify(execFile);
const SSHD = '/usr/sbin/sshd';
const hasKeygen = hasProgram('ssh', ['-V'], 'certificates read by ssh-keygen');
const canServe = hasKeygen && hasServer();

/** As root, sshd needs a user without rights and an empty folder of its own. */
function hasServer(): boolean {
  const what = 'logins by sshd and ssh';
  if (!existsSync(SSHD)) {
    skipped(what, `${SSHD} does not exist (npm run peers)`);
    return false;
  }
  if (userInfo().uid !== 0) return true;
  const hasUser = spawnSync('getent', ['passwd', 'sshd']).status === 0;
  if (!hasUser) skipped(what, 'there is no user sshd');
  else mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  return hasUser;
}

describe.skipIf(!hasKeygen)('OpenSSH', () => {
  const folder = folderWith();
  const place = (name: string): string => join(folder, name);
  const write = (name: string, text: string): string => {
    writeFileSync(place(name), `${text}\n`, { mode: 0o600 });
    return place(name);
  };
  const user = userInfo().username;
  let instance: Instance;
  let authorities: readonly Answer['body'][];

  const newKey = async (name: string, type: string): Promise<string> => {
    await run('ssh-keygen', [
      '-q',
      '-t',
      type,
      ...(type === 'rsa' ? ['-b', '2048'] : []),
      '-N',
      '',
      '-f',
      place(name),
    ]);
    return readFileSync(`${place(name)}.pub`, 'utf8');
  };
  const certify = (kind: 'host' | 'user', authority: Answer['body'], publicKey: string, more: object = {}) =>
    instance.make(`/ssh_${kind}_certificates`, {
      ssh_certificate_authority_id: authority.id,
      public_key: publicKey,
      ...more,
    });

  beforeAll(async () => {
    instance = await startInstance();
    const kinds = [{}, { private_key_type: 'ecdsa', elliptic_curve: 'p384' }, { private_key_type: 'rsa' }];
    authorities = await Promise.all(kinds.map((kind) => instance.make('/ssh_certificate_authorities', kind)));
  });
  afterAll(() => instance.close());

  it.each(['ed25519', 'ecdsa', 'rsa'])('reads certificates of keys of the type %s', async (type) => {
    const key = await newKey(`read_${type}`, type);
    for (const authority of authorities) {
      const made = await certify('user', authority, key, {
        principals: ['alice', 'bob'],
        critical_options: { 'force-command': 'echo hi', 'source-address': '127.0.0.0/8' },
        valid_after: '2026-01-01T00:00:00Z',
        valid_until: '2030-01-01T00:00:00Z',
      });
      const file = write('read-cert.pub', made.certificate);
      const env = { ...process.env, TZ: 'UTC' };
      const { stdout } = await run('ssh-keygen', ['-L', '-f', file], { env });
      const lines = stdout.split('\n').map((line) => line.trim());
      const printed = await run('ssh-keygen', ['-l', '-f', write('ca.pub', authority.public_key)]);
      const fingerprint = printed.stdout.split(' ')[1];
      expect(lines.slice(1, -1)).toEqual([
        `Type: ${made.certificate.split(' ')[0]} user certificate`,
        expect.stringMatching(/^Public key: (?:ED25519|ECDSA|RSA)-CERT SHA256:/),
        expect.stringContaining(`${fingerprint} (using `),
        `Key ID: "${made.id}"`,
        'Serial: 0',
        'Valid: from 2026-01-01T00:00:00 to 2030-01-01T00:00:00',
        'Principals:',
        'alice',
        'bob',
        'Critical Options:',
        'force-command echo hi',
        'source-address 127.0.0.0/8',
        'Extensions:',
        'permit-pty',
        'permit-user-rc',
      ]);
    }
  });

  describe.skipIf(!canServe)('of a server and a client', () => {
    let server: Server;
    const daemons = new Set<ChildProcess>();
    let log = '';

    beforeAll(async () => {
      const hostKey = await newKey('host', 'ed25519');
      const [first, second] = authorities;
      const host = await certify('host', second, hostKey, { principals: ['box.test'] });
      write('host-cert.pub', host.certificate);
      write('users.pub', first.public_key);
      write('known_hosts', `@cert-authority *.test ${second.public_key}`);
      const config = write(
        'sshd_config',
        [
          `HostKey ${place('host')}`,
          `HostCertificate ${place('host-cert.pub')}`,
          `TrustedUserCAKeys ${place('users.pub')}`,
          'AuthorizedKeysFile none',
          'AuthenticationMethods publickey',
          'PermitRootLogin prohibit-password',
          'UsePAM no',
          'StrictModes no',
          'PidFile none',
          'LogLevel VERBOSE',
        ].join('\n'),
      );
      // One process for each connection, which it gets as its standard input.
      server = createServer({ pauseOnConnect: true }, (socket) => {
        const daemon = spawn(SSHD, ['-i', '-e', '-f', config], { stdio: [socket, socket, 'pipe'] });
        daemons.add(daemon);
        daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
        daemon.on('close', () => daemons.delete(daemon));
        socket.destroy();
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterAll(async () => {
      server.close();
      for (const daemon of daemons) daemon.kill();
    });

    /** What a command printed that was run through a login, or why there was none. */
    const login = async (name: string, host = 'box.test'): Promise<string> => {
      const { port } = server.address() as AddressInfo;
      const options = [
        '-F',
        'none',
        '-p',
        String(port),
        '-i',
        place(name),
        '-T',
        '-o',
        'IdentitiesOnly=yes',
        '-o',
        'BatchMode=yes',
        '-o',
        'StrictHostKeyChecking=yes',
        '-o',
        `HostKeyAlias=${host}`,
        '-o',
        `UserKnownHostsFile=${place('known_hosts')}`,
        '-o',
        'GlobalKnownHostsFile=none',
        '-o',
        'IdentityAgent=none',
        '-o',
        'UpdateHostKeys=no',
      ];
      const done = run('ssh', [...options, `${user}@127.0.0.1`, 'echo logged in'], { timeout: 30_000 });
      return done.then(
        ({ stdout }) => stdout.trim(),
        (error: { stderr: string }) => error.stderr.trim(),
      );
    };
    const holder = async (name: string, type: string, more: object, authority = authorities[0]) => {
      const made = await certify('user', authority, await newKey(name, type), more);
      write(`${name}-cert.pub`, made.certificate);
      return made;
    };

    it.each(['ed25519', 'ecdsa', 'rsa'])(
      'logs in the holder of a certificate: %s',
      async (type) => {
        const made = await holder(`in_${type}`, type, { principals: ['other', user] });
        expect(await login(`in_${type}`)).toBe('logged in');
        expect(log).toContain(`ID ${made.id} (serial 0)`);
      },
      60_000,
    );

    it('runs only the command that the certificate forces', async () => {
      const critical_options = { 'force-command': 'echo forced', 'source-address': '127.0.0.0/8' };
      await holder('forced', 'ed25519', { principals: [user], critical_options });
      expect(await login('forced')).toBe('forced');
    });

    it.each<[string, object, RegExp]>([
      ['principals', { principals: ['mallory'] }, /not a listed principal/],
      [
        'expired',
        { principals: [user], valid_after: '2001-01-01T00:00:00Z', valid_until: '2001-01-02T00:00:00Z' },
        /expired/,
      ],
      [
        'later',
        { principals: [user], valid_after: '2099-01-01T00:00:00Z', valid_until: '2099-01-02T00:00:00Z' },
        /not yet valid/,
      ],
      [
        'elsewhere',
        { principals: [user], critical_options: { 'source-address': '192.0.2.0/24' } },
        /not from a permitted source address/,
      ],
      [
        'unknown',
        { principals: [user], critical_options: { 'other@a.test': 'x' } },
        /unknown critical options|not supported/i,
      ],
    ])(
      'refuses others: %s',
      async (name, more, said) => {
        await holder(name, 'ed25519', more);
        log = '';
        expect(await login(name)).toMatch(/Permission denied \(publickey\)/);
        expect(log).toMatch(said);
      },
      60_000,
    );

    it('refuses certificates of another authority, and the client other hosts', async () => {
      await holder('foreign', 'ed25519', { principals: [user] }, authorities[2]);
      expect(await login('foreign')).toMatch(/Permission denied/);
      expect(await login('in_ed25519', 'mail.test')).toMatch(/host key verification failed/i);
    });
  });
});
