import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { parseAddress } from '../net/address.ts';
import { refuseAlone } from './option_conflicts.ts';
import { addEmail } from './option_values.ts';
import { OutputError } from './failure.ts';
import { makeFolder } from './folders.ts';
import { writeText } from './write_file.ts';
import { EXIT } from './exit_codes.ts';
import {
  type LocalAuthority,
  clientCertificate,
  dataFolder,
  localAuthority,
  serverCertificate,
} from './local_authority.ts';
import type { TlsCertificate } from '../engine/connection.ts';
import { stderr, stdout } from './output.ts';

interface Options {
  readonly client?: string;
  readonly email: readonly string[];
  readonly p12?: string | true;
  readonly out: string;
  readonly force?: boolean;
}

export function register(command: Command): void {
  command
    .argument('[host]', 'host name or address of the server certificate')
    .option('--client <name>', 'issue a client certificate with this common name instead')
    .option('--email <address>', 'e-mail address in a client certificate; can be repeated', addEmail, [])
    .option('--p12 [password]', 'also write a PKCS #12 file, for browsers (needs openssl)')
    .option('-o, --out <folder>', 'folder to write to', '.')
    .option('--force', 'overwrite existing files')
    .action(async (host: string | undefined, options: Options) => {
      if (options.client === undefined)
        refuseAlone(command, ['--email'], { only: 'client certificates', add: '--client NAME' });
      process.exitCode = await cert(host, options);
    });
}

async function cert(host: string | undefined, options: Options): Promise<number> {
  const { client } = options;
  if ((host === undefined) === (client === undefined)) {
    stderr.write('name either a host, such as app.localhost, or a client certificate: --client ann\n');
    return EXIT.usage;
  }
  if (host !== undefined && !isHost(host)) {
    stderr.write(
      `'${host}' is not a host; write a name such as app.localhost or *.app.test, or an address\n`,
    );
    return EXIT.usage;
  }
  const authority = await localAuthority(dataFolder(process.env, process.platform));
  const made =
    client === undefined
      ? serverCertificate(authority, host!.toLowerCase())
      : clientCertificate(authority, client, options.email);
  const base = fileName(client === undefined ? host! : `${client}-client`);
  write(made, base, options, authority);
  return EXIT.ok;
}

/** Whether certificates can have it: a name, also with a star as its first label (RFC 6125, 6.4.3), or an address. */
function isHost(text: string): boolean {
  return parseAddress(text) !== null || /^(?:\*\.)?(?:[\w-]{1,63}\.)*[\w-]{1,63}$/.test(text);
}

/** `*` and characters that have a meaning in paths cannot be part of a file name. */
function fileName(name: string): string {
  return name.replaceAll('*', '_').replaceAll(/[^\w.@+-]/g, '-');
}

function write(
  { certificatePem, privateKeyPem }: TlsCertificate,
  base: string,
  { out, force, p12, client }: Options,
  authority: LocalAuthority,
): void {
  const flag = force === true ? 'w' : 'wx';
  const file = join(out, `${base}.pem`);
  const keyFile = join(out, `${base}-key.pem`);
  if (flag === 'wx') {
    const taken = [keyFile, file].find((path) => existsSync(path));
    if (taken !== undefined)
      throw new OutputError(`cannot write ${taken}: it exists already; --force overwrites it`);
  }
  makeFolder(out);
  writeText(keyFile, privateKeyPem, { isSecret: true, flag });
  writeText(file, certificatePem, { flag });
  say(`certificate  ${file}`);
  say(`private key  ${keyFile}`);
  say(`authority    ${authority.file}`);
  if (p12 !== undefined)
    writeP12(join(out, `${base}.p12`), file, keyFile, p12 === true ? '' : p12, authority);
  if (client === undefined) return;
  say('\nin an edge file:');
  say(`  certificate_authorities: {local: {ca_file: ${JSON.stringify(authority.file)}}}`);
  say('  … mutual_tls: {certificate_authority_ids: [local]}');
  say(`try: curl --cacert ${authority.file} --cert ${file} --key ${keyFile} https://…`);
}

/** openssl writes the PKCS #12 format (RFC 7292). */
function writeP12(
  target: string,
  file: string,
  keyFile: string,
  password: string,
  authority: LocalAuthority,
): void {
  const args = ['pkcs12', '-export', '-in', file, '-inkey', keyFile, '-certfile', authority.file];
  const {
    status,
    error,
    stderr: said,
  } = spawnSync('openssl', [...args, '-out', target, '-passout', 'stdin'], {
    input: `${password}\n`,
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new OutputError(`openssl could not write ${target}: ${error?.message ?? said.trim()}`);
  say(`PKCS #12     ${target}${password === '' ? '  (no password)' : ''}`);
}

function say(text: string): void {
  stdout.write(`${text}\n`);
}
