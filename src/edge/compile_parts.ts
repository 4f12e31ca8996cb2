import type { LoginEnvironment } from '../auth/policy_logins.ts';
import { type Context, addressesOf } from './compile_filters.ts';
import { compileHttpsEdge } from './compile_https.ts';
import type { ConfigTables } from './document/config_tables.ts';
import type { HttpsEdgeConfig, TcpEdgeConfig, TlsEdgeConfig } from './document/schema.ts';
import type { CompiledParts, EdgeKind, EdgeParts } from './edge_tables.ts';
import { httpsProfile, tlsProfile } from './handshakes.ts';
import { gatesOf } from './login_config.ts';
import { compileSamlAddresses } from './saml_host.ts';
import { compileStream } from './streams.ts';

/** What compiles the edge of a key; null if there is no such edge. An unchanged edge is compiled once. */
export function edgeCompiler(
  tables: ConfigTables,
  key: string,
  logins: LoginEnvironment,
): ((context: Context) => CompiledParts) | null {
  const space = key.indexOf(' ');
  const kind = key.slice(0, space) as EdgeKind;
  const name = key.slice(space + 1);
  const edge = tables[kind].get(name);
  if (edge === undefined) return null;
  return (context) => {
    const { branding, policy, cache } = context;
    return cache.tracked(edge, [kind, name, branding, policy, logins], context, (watched) =>
      kind === 'https'
        ? httpsParts(name, edge as HttpsEdgeConfig, watched, logins)
        : streamParts(kind, name, edge, watched),
    );
  };
}

function httpsParts(
  name: string,
  edge: HttpsEdgeConfig,
  context: Context,
  logins: LoginEnvironment,
): EdgeParts {
  const gates = gatesOf(name, edge.routes, logins);
  return {
    kind: 'https',
    name,
    addresses: addressesOf(edge),
    https: compileHttpsEdge(name, edge, gates, context),
    stream: null,
    profile: httpsProfile(name, edge, context.authorityPem),
    saml: compileSamlAddresses(name, edge, gates, context),
  };
}

function streamParts(
  kind: 'tls' | 'tcp',
  name: string,
  edge: TlsEdgeConfig | TcpEdgeConfig,
  context: Context,
): EdgeParts {
  return {
    kind,
    name,
    addresses: addressesOf(edge),
    https: null,
    stream: { name, pipeline: compileStream(kind, name, edge, context) },
    profile: kind === 'tls' ? tlsProfile(name, edge, context.authorityPem) : null,
    saml: [],
  };
}
