import type { Carrier, ModuleFacts, ModulePlace } from '../../filters/facts.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';
import { type SoundStreamEdge, edgesOf, routesOf, streamEdgesOf } from './routes_of.ts';

const CHECKED = [...MODULE_FACTS.values()].filter(({ check }) => check !== undefined);
const LOGINS = [...MODULE_FACTS.values()].filter(({ login = false }) => login).map(({ type }) => type);

/** Checks every module as declared in its facts, and that a route has one login module. */
export function checkModules(config: SoundConfig, report: Report, nowMs?: number): void {
  const place = { ipPolicies: config.ip_policies ?? {}, ...(nowMs !== undefined && { nowMs }) };
  const check = (carrier: Carrier, thing: object, pointer: string, terminatesTls: boolean): void => {
    for (const facts of CHECKED)
      checkModule(facts, thing, pointer, report, { ...place, carrier, terminatesTls });
  };
  for (const { pointer, thing } of edgesOf(config)) check('https', thing, pointer, true);
  for (const { pointer, thing } of routesOf(config)) {
    check('https', thing, pointer, true);
    const present = LOGINS.filter((type) => type in thing);
    if (present.length > 1) {
      const message = `a route has at most one of ${LOGINS.join(', ')}; this one has ${present.join(' and ')}`;
      report('edge.several_logins', `${pointer}/${present[1]!}`, message, { at: 'key' });
    }
  }
  for (const { pointer, thing, kind } of streamEdgesOf(config))
    check(kind, thing, pointer, terminatesTls(thing));
}

function checkModule(
  { type, check }: ModuleFacts<never>,
  thing: object,
  pointer: string,
  report: Report,
  place: ModulePlace,
): void {
  const config = (thing as Readonly<Record<string, unknown>>)[type];
  if (config === undefined) return;
  const at = `${pointer}/${type}`;
  check!(config as never, (code, below, message, more) => report(code, at + below, message, more), place);
}

function terminatesTls(edge: SoundStreamEdge): boolean {
  const { tls_termination: termination } = edge;
  if (termination === undefined) return true;
  return termination.enabled !== false && termination.terminate_at === 'edge';
}
