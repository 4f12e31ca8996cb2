import type { EdgeConfig } from '../edge/document/schema.ts';
import type { LoginOptions } from '../edge/login_config.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { readDocument } from '../config_file/read.ts';
import { type Identity, USUAL_IDENTITIES, readIdentities } from '../dev_idp/identities.ts';
import { developmentIdp } from '../dev_idp/idp.ts';
import { samlEntityId } from '../dev_idp/saml.ts';
import type { ServedIdp } from '../dev_idp/server.ts';
import { FileError, readText } from '../project_files/load_config.ts';
import type { ProviderSetting } from '../filters/fact_values.ts';
import { type NamedLogin, loginsOf, providerSettings } from './development_logins.ts';

/** Port of the development identity provider, which an `issuer` can name. */
const PROVIDER_PORT = 9400;
const PROVIDER_URL = `http://127.0.0.1:${PROVIDER_PORT}`;

/** An identity provider that runs beside the ingress. */
export interface DevelopmentProvider {
  readonly url: string;
  /** Makes its SAML metadata. */
  readonly samlMetadata: () => string;
  /** What it replaces: managed OAuth apps, or all providers, because the user has named identities. */
  readonly replaces: 'managed' | 'all';
  readonly lines: readonly string[];
  readonly close: () => Promise<void>;
}

/**
 * Starts the development identity provider when a login needs it (an OAuth login without its own app, or an `issuer`
 * with its address) or when a file of identities is given, for which it takes over all logins; null otherwise.
 * Throws FileError.
 */
export async function developmentProvider(
  config: EdgeConfig,
  file: string | undefined,
): Promise<DevelopmentProvider | null> {
  const needs = needsOf(config);
  if (file === undefined && !needs.managed && !needs.issuer && !needs.saml) return null;
  const identities = file === undefined ? readIdentities(USUAL_IDENTITIES).identities : identitiesIn(file);
  const { serveIdp } = await import('../dev_idp/server.ts');
  const replaces = file === undefined ? 'managed' : 'all';
  const served = await serve(serveIdp, identities, replaces === 'managed' && (needs.issuer || needs.saml));
  const names = identities.map(({ key }) => key).join(', ');
  const lines = [`development identity provider  ${served.url}  log in as ${names}`];
  if (needs.managed) lines.push('it replaces the managed OAuth app of the service, for development only');
  if (needs.saml) lines.push(`its SAML metadata  ${served.url}/saml/metadata`);
  const samlMetadata = () => served.idp.samlMetadata(Date.now());
  return { url: served.url, samlMetadata, replaces, lines, close: served.close };
}

/**
 * Settings of logins whose values only production has. They pass the check, and the development provider replaces them. Null for
 * other keys.
 */
export function madeUpLogins(): (key: string) => string | null {
  const texts: Readonly<Record<ProviderSetting, () => string>> = {
    app: () => 'development',
    issuer: () => PROVIDER_URL,
    saml_metadata: () => developmentIdp(PROVIDER_URL, [], () => '').samlMetadata(Date.now()),
    saml_metadata_url: () => samlEntityId(PROVIDER_URL),
  };
  const settings = providerSettings();
  return (key) => (Object.hasOwn(settings, key) ? texts[settings[key]!]() : null);
}

/** Whether a login names the development provider itself. */
export function isOwnProvider({ provider }: NamedLogin): boolean {
  return [PROVIDER_URL, samlEntityId(PROVIDER_URL)].includes(provider.name);
}

/** The given session keys, if there are any, and the provider that runs. */
export function loginOptions(
  sessionKeys: readonly string[] | null,
  provider: DevelopmentProvider | null,
): LoginOptions {
  return {
    ...(sessionKeys !== null && { sessionKeys }),
    ...(provider !== null && {
      developmentProvider: provider.url,
      developmentSaml: provider.samlMetadata,
      developmentReplaces: provider.replaces,
    }),
  };
}

/**
 * An issuer contains a port, so the port is fixed if one is configured; managed apps find the provider on any
 * port.
 */
async function serve(
  serveIdp: (identities: readonly Identity[], port?: number) => Promise<ServedIdp>,
  identities: readonly Identity[],
  isStrict: boolean,
): Promise<ServedIdp> {
  try {
    return await serveIdp(identities, PROVIDER_PORT);
  } catch (error) {
    if (isStrict)
      throw new FileError(`port ${PROVIDER_PORT} of the development identity provider is in use`, {
        cause: error,
      });
    return serveIdp(identities);
  }
}

function needsOf(config: EdgeConfig): {
  readonly managed: boolean;
  readonly issuer: boolean;
  readonly saml: boolean;
} {
  const providers = loginsOf(config).map(({ provider }) => provider);
  const named = new Set(providers.map(({ name }) => name));
  return {
    managed: providers.some(({ isManaged }) => isManaged),
    issuer: named.has(PROVIDER_URL),
    saml: named.has(samlEntityId(PROVIDER_URL)),
  };
}

/** Reads identities from a file: a map `identities`, as in scenario files. */
function identitiesIn(file: string): readonly Identity[] {
  const kind = {
    called: 'a file of identities',
    keys: '`identities`',
    smallest: 'a minimal file has a map `identities` with one name',
    prefix: 'edge',
  };
  const { document, diagnostics } = readDocument({ name: file, text: readText(file) }, kind);
  if (document === null) throw new FileError(renderDiagnostics(diagnostics, { color: false }).trimEnd());
  const value = document.value as { readonly identities?: unknown } | undefined;
  const raw = value?.identities;
  if (typeof raw !== 'object' || raw === null)
    throw new FileError(`${file} has no map \`identities\`; add one, or name a scenario file that has one`);
  const { identities, problems } = readIdentities(raw as Readonly<Record<string, unknown>>);
  const [problem] = problems;
  if (problem !== undefined) throw new FileError(`${file}: ${problem.key}: ${problem.message}`);
  return identities;
}
