import { weakMemoize } from '../caches/weak_memoize.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Steps } from '../config_file/steps.ts';
import type { Linked, Module } from '../engine/module.ts';
import type { Branding } from '../engine/branding.ts';
import { digest } from '../crypto/digest.ts';
import { stateKey } from './filter_state.ts';
import { type CompiledFilter, compiledFilter } from '../engine/pipeline.ts';
import { refusal } from '../engine/refusals.ts';
import { parseAuthority } from '../http/host.ts';
import { MODULES } from '../filters/modules.ts';
import type { LoginLinks } from '../auth/module_gate.ts';
import type { PolicyLinks } from '../policy/module.ts';
import type { CompileRequest, CompileCache } from './compile_cache.ts';

/** The context for handlers of all edges. */
export interface Context extends CompileRequest {
  readonly branding: Branding;
  readonly policy: PolicyLinks;
  /** Handlers of earlier configurations. */
  readonly cache: CompileCache;
  /** Takes the compilation of large parts, which are then left out; null to compile them at once. */
  readonly later: ((work: Steps<void>) => void) | null;
}

/** Members that the configs of all modules have. */
export interface ModuleConfig {
  readonly enabled: boolean;
}

/** The route or edge whose filters are compiled. */
interface WithFilters {
  readonly edge: string;
  /** Id of the route or edge, for states. */
  readonly id: string;
  readonly links: PolicyLinks & LoginLinks;
  /** The values that `links` depend on: while they are the same, handlers of unchanged modules are reused. */
  readonly circumstances: readonly unknown[];
}

/** Compiles the modules that are present and enabled; `configOf` returns a module's config and its pointer. */
export function compileFilters(
  { edge, id, links, circumstances }: WithFilters,
  configOf: (type: string) => readonly [config: ModuleConfig | undefined, parent: string],
  context: Context,
): CompiledFilter[] {
  const filters: CompiledFilter[] = [];
  for (const module of MODULES) {
    const [config, parent] = configOf(module.type);
    if (config === undefined || !config.enabled) continue;
    const at = pointerTo(parent, module.type);
    const linked = (watched: Context) => linkedWith(watched, { edge, at, links });
    const now = [at, edge, ...circumstances];
    if (context.later !== null && isLarge(module, config)) {
      const compile = (watched: Context) => module.compilation!.compile(config as never, linked(watched));
      context.later(context.cache.ahead(config, now, context, compile));
      continue;
    }
    const handler = context.cache.part(config, now, context, (watched) =>
      module.compile(config as never, linked(watched)),
    );
    const state =
      handler.initial === undefined
        ? null
        : context.takeState(id, module.type, config, () =>
            handler.initial!(() => identityOf(config, [id, module.type])),
          );
    filters.push(compiledFilter({ type: module.type, pointer: at, config }, module.reasons, handler, state));
  }
  return filters;
}

function isLarge({ compilation }: Module<never>, config: ModuleConfig): boolean {
  return compilation?.isLarge(config as never) === true;
}

/** The name of a state: any change that resets the state changes its name. */
function identityOf(config: object, at: readonly [id: string, module: string]): string {
  return digest('sha256', [stateKey(config, at)], 'base64').slice(0, IDENTITY_UNITS);
}

const IDENTITY_UNITS = 22;

function linkedWith(
  { branding, ipPolicy, authorityPem, backend }: Context,
  { edge, at, links }: Pick<WithFilters, 'edge' | 'links'> & { readonly at: string },
): Linked & PolicyLinks & LoginLinks {
  return {
    ...links,
    branding,
    pointer: at,
    edge,
    ipPolicy,
    authorityPem,
    backend,
    refusal: (status, code, message) => refusal(branding, status, code, message),
  };
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Splits a `host:port`; a wildcard is kept. */
export function readHostport(hostport: string): HostAndPort {
  const wildcard = hostport.startsWith('*.') ? '*.' : '';
  const authority = parseAuthority(hostport.slice(wildcard.length));
  if (authority === null) throw new Error(`hostport '${hostport}' passed its check but does not parse`);
  return { host: wildcard + authority.host, port: authority.port ?? 0 };
}

/** The hostports of an edge, read once. */
export const addressesOf = weakMemoize(
  ({ hostports }: { readonly hostports: readonly string[] }): readonly HostAndPort[] =>
    hostports.map(readHostport),
);
