import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readCertificate } from '../crypto/x509.ts';
import { EXIT } from './exit_codes.ts';
import { type LocalAuthority, authorityFile, dataFolder, localAuthority } from './local_authority.ts';
import { readText } from '../project_files/load_config.ts';
import { shellQuoted } from '../diagnostics/message_text.ts';
import { stdout } from './output.ts';

interface Options {
  readonly print?: boolean;
  readonly uninstall?: boolean;
}

export function register(command: Command): void {
  command
    .option('--print', 'only print the commands, and how to configure single clients')
    .option('--uninstall', 'remove the authority from the trust stores')
    .action(async (options: Options) => {
      process.exitCode = await trust(options);
    });
}

async function trust({
  print: isPrinting = false,
  uninstall: isUninstall = false,
}: Options): Promise<number> {
  const folder = dataFolder(process.env, process.platform);
  if (isUninstall) return uninstall(authorityFile(folder), isPrinting);
  const authority = await localAuthority(folder);
  const stores = trustStores(authority.file, thisMachine(), false);
  say(`The local authority: ${authority.file}`);
  say(`  ${describe(authority.certificatePem)}`);
  if (isPrinting) {
    printSteps(stores);
    say(`\nOr configure clients one by one, with nothing installed:\n${oneByOne(authority)}`);
    return EXIT.ok;
  }
  if (stores.length > 0) return changeStores(stores);
  say(`No known trust store on this system.\nConfigure clients one by one:\n${oneByOne(authority)}`);
  return EXIT.runtime;
}

/** Removes the authority from the trust stores, also one whose files are gone, damaged or too old. */
function uninstall(file: string, isPrinting: boolean): number {
  const isThere = existsSync(file);
  if (isThere) say(`The local authority: ${file}\n  ${describe(readText(file))}`);
  else say(`There is no local authority: ${file} does not exist.`);
  // That of macOS finds the certificate by its file.
  const machine = thisMachine();
  const stores = isThere || machine.platform !== 'darwin' ? trustStores(file, machine, true) : [];
  if (stores.length === 0) say('There is no trust store to remove it from.');
  if (!isPrinting) return changeStores(stores);
  printSteps(stores);
  return EXIT.ok;
}

function thisMachine(): Machine {
  return { platform: process.platform, home: homedir(), exists: existsSync, has: isInstalled };
}

/** Runs the commands of all stores, and says which ones failed; returns the exit code. */
export function changeStores(stores: readonly TrustStore[]): number {
  const failed = stores.filter((store) => !runCommands(store));
  if (failed.length === 0) return EXIT.ok;
  say('\nThese commands failed; run them yourself:');
  for (const { commands } of failed) for (const command of commands) say(`  ${shown(command)}`);
  return EXIT.runtime;
}

/** A trust store, and the commands that change it. */
export interface TrustStore {
  readonly name: string;
  readonly commands: readonly (readonly string[])[];
}

/** What is known about the machine. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly exists: (path: string) => boolean;
  /** Whether a program is in the path. */
  readonly has: (program: string) => boolean;
}

const NAME = 'edgeproof-local-authority';

/** Trust anchor folders of Linux distributions, with the program that reads them. */
const ANCHORS = [
  { folder: '/usr/local/share/ca-certificates', ending: 'crt', update: ['update-ca-certificates'] },
  { folder: '/etc/pki/ca-trust/source/anchors', ending: 'pem', update: ['update-ca-trust', 'extract'] },
  { folder: '/etc/ca-certificates/trust-source/anchors', ending: 'crt', update: ['trust', 'extract-compat'] },
  { folder: '/usr/share/pki/trust/anchors', ending: 'pem', update: ['update-ca-certificates'] },
] as const;

/** The trust stores of a machine, and the commands that add or remove the certificate. */
export function trustStores(file: string, machine: Machine, isUninstall: boolean): TrustStore[] {
  const { platform, home, exists, has } = machine;
  if (platform === 'darwin') {
    const keychain = '/Library/Keychains/System.keychain';
    const command = isUninstall
      ? ['security', 'remove-trusted-cert', '-d', file]
      : ['security', 'add-trusted-cert', '-d', '-r', 'trustRoot', '-k', keychain, file];
    return [{ name: 'the system keychain', commands: [['sudo', ...command]] }];
  }
  if (platform === 'win32') {
    const command = isUninstall ? ['-delstore', 'Root', NAME] : ['-addstore', 'Root', file];
    return [{ name: 'the store of this user', commands: [['certutil', '-user', ...command]] }];
  }
  const stores: TrustStore[] = [];
  const anchor = ANCHORS.find(({ folder, update }) => exists(folder) && has(update[0]));
  if (anchor !== undefined) {
    const target = `${anchor.folder}/${NAME}.${anchor.ending}`;
    const change = isUninstall ? ['rm', '-f', target] : ['install', '-m', '644', file, target];
    const update = isUninstall && anchor.update[0] === 'update-ca-certificates' ? ['--fresh'] : [];
    stores.push({
      name: `the system store (${anchor.folder})`,
      commands: [change, [...anchor.update, ...update]].map((command) => ['sudo'].concat(command)),
    });
  }
  const browsers = join(home, '.pki', 'nssdb');
  if (exists(browsers) && has('certutil')) {
    const change = isUninstall ? ['-D', '-n', NAME] : ['-A', '-t', 'C,,', '-n', NAME, '-i', file];
    const commands = [['certutil', '-d', `sql:${browsers}`, ...change]];
    stores.push({ name: 'browsers of this user (NSS)', commands });
  }
  return stores;
}

/** Runs the commands of a store; `sudo` is omitted for root. */
function runCommands({ name, commands }: TrustStore): boolean {
  say(`\n${name}`);
  const isRoot = process.getuid?.() === 0;
  for (const command of commands) {
    const [program, ...args] = isRoot && command[0] === 'sudo' ? command.slice(1) : command;
    say(`  ${shown([program!, ...args])}`);
    const { status, error } = spawnSync(program!, args, { stdio: 'inherit' });
    if (status === 0) continue;
    say(`  failed: ${error?.message ?? `exit code ${String(status)}`}`);
    return false;
  }
  return true;
}

function printSteps(stores: readonly TrustStore[]): void {
  for (const { name, commands } of stores) {
    say(`\n${name}`);
    for (const command of commands) say(`  ${shown(command)}`);
  }
}

function oneByOne({ file }: LocalAuthority): string {
  const path = shellQuoted(file);
  return [
    `  curl --cacert ${path} https://…`,
    `  NODE_EXTRA_CA_CERTS=${path} node …`,
    `  SSL_CERT_FILE=${path} …   (OpenSSL, Go, Ruby)`,
    `  REQUESTS_CA_BUNDLE=${path} python …`,
  ].join('\n');
}

function describe(certificatePem: string): string {
  const facts = readCertificate(certificatePem);
  if ('problem' in facts) return '';
  return `${facts.subject.CN}, until ${new Date(facts.notAfterMs).toISOString().slice(0, 10)}`;
}

function isInstalled(program: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'];
  return folders.some((folder) => folder !== '' && existsSync(join(folder, program)));
}

function shown(command: readonly string[]): string {
  return command.map(shellQuoted).join(' ');
}

function say(text: string): void {
  stdout.write(`${text}\n`);
}
