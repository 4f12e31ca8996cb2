import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Linked } from '../engine/module.ts';
import type { ServiceNaming } from '../engine/naming.ts';
import { type Slot, slot } from '../engine/pipeline.ts';
import { refusal } from '../engine/refusals.ts';
import { parseAuthority } from '../http/host.ts';
import { MODULES } from '../modules/table.ts';
import type { LoginLinks } from '../modules/login_gate.ts';
import type { PolicyLinks } from '../modules/traffic_policy/index.ts';
import type { Asking, KeptParts } from './kept_parts.ts';

/** What the handlers of all edges are compiled with. */
export interface Context extends Asking {
  readonly naming: ServiceNaming;
  readonly policy: PolicyLinks;
  /** Handlers of configurations before. */
  readonly kept: KeptParts;
}

/** What is common to the config of all modules. */
export interface ModuleConfig {
  readonly enabled: boolean;
}

/** What slots are compiled for. */
interface Slotted {
  readonly edge: string;
  /** Of the route or edge, for states. */
  readonly id: string;
  readonly links: PolicyLinks & LoginLinks;
  /** What `links` are made of: as long as it is the same, handlers of unchanged modules are. */
  readonly circumstances: readonly unknown[];
}

/** Compiles the modules that are there and enabled; `configOf` gives a module's config and where it stands. */
export function compileSlots(
  { edge, id, links, circumstances }: Slotted,
  configOf: (type: string) => readonly [config: ModuleConfig | undefined, parent: string],
  context: Context,
): Slot[] {
  const slots: Slot[] = [];
  for (const module of MODULES) {
    const [config, parent] = configOf(module.type);
    if (config === undefined || !config.enabled) continue;
    const at = pointerTo(parent, module.type);
    const handler = context.kept.part(config, [at, edge, ...circumstances], context, (watched) =>
      module.compile(config as never, linkedWith(watched, { edge, at, links })),
    );
    const state =
      handler.initial === undefined
        ? null
        : context.takeState(id, module.type, config, () => handler.initial!());
    slots.push(slot(module.type, at, module.reasons, handler, state));
  }
  return slots;
}

function linkedWith(
  { naming, ipPolicy, authorityPem, backend }: Context,
  { edge, at, links }: Pick<Slotted, 'edge' | 'links'> & { readonly at: string },
): Linked & PolicyLinks & LoginLinks {
  return {
    ...links,
    naming,
    pointer: at,
    edge,
    ipPolicy,
    authorityPem,
    backend,
    refusal: (status, code, message) => refusal(naming, status, code, message),
  };
}

/** A `host:port` taken apart, its wildcard kept. */
export function readHostport(hostport: string): { readonly host: string; readonly port: number } {
  const wildcard = hostport.startsWith('*.') ? '*.' : '';
  const authority = parseAuthority(hostport.slice(wildcard.length));
  if (authority === null) throw new Error(`hostport '${hostport}' passed its check but does not parse`);
  return { host: wildcard + authority.host, port: authority.port ?? 0 };
}
