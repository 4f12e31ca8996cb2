import { accessSync, constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { deepFreeze } from '../config_file/freeze.ts';
import { quoted } from '../diagnostics/message_text.ts';
import { nearName } from './near_names.ts';
import type { Checked } from '../edge/document/check.ts';
import { keepNamedSecrets, namedSecrets } from '../edge/document/named_secrets.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { FileError, loadConfig } from '../project_files/load_config.ts';
import type { Sources } from '../project_files/sources.ts';
import type { Replacement, StandIns } from '../project_files/stand_ins.ts';
import { type NamedLogin, loginsOf } from './development_logins.ts';
import { isOwnProvider, madeUpLogins } from './development_provider.ts';
import type { ServiceOptions } from './service_name.ts';
import { authorityIn, certificateForHosts, dataFolder } from './local_authority.ts';

/** An address of this machine that takes the place of a backend. */
export interface BackendHere {
  readonly address: string;
  readonly tls: boolean;
}

export interface DevelopmentOptions extends ServiceOptions {
  /** A file of users, for whom the development provider takes over all logins. */
  readonly identities?: string | undefined;
  /** By the names of backends. */
  readonly backend: ReadonlyMap<string, BackendHere>;
}

/** An edge file of production on this machine. */
export interface DevelopmentEdge {
  /** Reads it; throws FileError. */
  readonly load: () => Promise<Checked>;
  /** What was replaced when it was last read. */
  readonly replaced: () => readonly Replacement[];
}

/**
 * Reads an edge file for development: what only production has (certificates, address databases, secrets of logins,
 * identity providers) is replaced, and so are the backends that the user names.
 */
export function developmentEdge(
  file: string,
  options: DevelopmentOptions,
  sources?: Sources,
): DevelopmentEdge {
  let rows: Replacement[] = [];
  const load = async (): Promise<Checked> => {
    const next: Replacement[] = [];
    const standIns = standInsFor(options, (row) => void next.push(row));
    const checked = await loadConfig(file, { standIns, serviceName: options.serviceName, sources });
    rows = next;
    const { config } = checked;
    if (config === null) return checked;
    if (options.identities !== undefined) next.push(...loginsOf(config).flatMap(takenOver));
    return { ...checked, config: localised(config, file, options, next) };
  };
  return { load, replaced: () => rows };
}

const authority = () => authorityIn(dataFolder(process.env, process.platform));

function standInsFor({ identities }: DevelopmentOptions, replaced: StandIns['replaced']): StandIns {
  return {
    replaced,
    loginSetting: identities === undefined ? () => null : madeUpLogins(),
    authorityPem: () => authority().certificatePem,
    certificateFor: (hosts) => certificateForHosts(authority(), hosts.length === 0 ? ['localhost'] : hosts),
  };
}

function takenOver(login: NamedLogin): Replacement[] {
  if (isOwnProvider(login)) return [];
  const here = 'the development identity provider';
  return [{ part: `login ${login.place}`, written: login.provider.name, here }];
}

/** A configuration with the backends of this machine, and without the databases that it lacks. */
function localised(
  config: EdgeConfig,
  file: string,
  { backend: backends }: DevelopmentOptions,
  rows: Replacement[],
): EdgeConfig {
  const databases = config.address_databases.filter((name) => {
    const isHere = isReadable(resolve(dirname(file), name));
    const here = 'none: the places of addresses are unknown';
    if (!isHere) rows.push({ part: 'address database', written: `${name} is not here`, here });
    return isHere;
  });
  if (backends.size === 0 && databases.length === config.address_databases.length) return config;
  const own = Array.from(backends, ([name, here]) => [name, backendHere(config, name, here, rows)] as const);
  const changed = deepFreeze({
    ...config,
    address_databases: databases,
    backends: { ...config.backends, ...Object.fromEntries(own) },
  });
  // They belong to the object.
  keepNamedSecrets(changed, namedSecrets(config));
  return changed;
}

function backendHere(
  { backends }: EdgeConfig,
  name: string,
  { address, tls }: BackendHere,
  rows: Replacement[],
): EdgeConfig['backends'][string] {
  const given = Object.hasOwn(backends, name) ? backends[name] : undefined;
  if (given === undefined) {
    const near = nearName(name, Object.keys(backends));
    throw new FileError(`--backend: there is no backend ${quoted(name)}; ${near}`);
  }
  const { static: former } = given;
  const kind = Object.keys(given).find((key) => key !== 'description' && key !== 'metadata') ?? 'backend';
  const written = former?.address ?? kind.replaceAll('_', ' ');
  rows.push({ part: `backend ${name}`, written, here: address });
  const { tls: _tls, address: _address, ...rest } = former ?? {};
  return { static: { ...rest, address, ...(tls && { tls: { enabled: true } }) } };
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Longer texts do not widen their column. */
const WIDEST = 70;

/** The table of replacements, in columns. */
export function replacementLines(rows: readonly Replacement[]): readonly string[] {
  if (rows.length === 0) return [];
  const width = (column: 'part' | 'written') =>
    Math.min(WIDEST, Math.max(...rows.map((row) => row[column].length)));
  const [parts, texts] = [width('part'), width('written')];
  return [
    'replaced for development:',
    ...rows.map(({ part, written, here }) => `  ${part.padEnd(parts)}  ${written.padEnd(texts)}  → ${here}`),
  ];
}
