import type { ModuleFacts } from '../../filters/facts.ts';
import type { ModulePlace } from '../../filters/fact_values.ts';
import type { EdgeKind } from '../../filters/phase.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { SoundConfig, Report } from './report.ts';
import { edgesOf, isTerminating, routesOf, streamEdgesOf } from './routes_of.ts';
import { NOT_EXPORTED, changedAt } from './value_places.ts';

const CHECKED = [...MODULE_FACTS.values()].filter(
  ({ check, secrets }) => check !== undefined || secrets !== undefined,
);
const LOGINS = [...MODULE_FACTS.values()].filter(({ login = false }) => login).map(({ type }) => type);

/** What is known where modules are checked. */
export interface ModuleCheckOptions {
  /** The current time, to find what has expired; without it, nothing has. */
  readonly nowMs?: number | undefined;
  /** Whether secrets may be placeholders, because they are applied to an instance that has them. */
  readonly secretsMayBeMissing?: boolean | undefined;
}

/** Checks every module as declared in its facts, and that a route has one login module. */
export function checkModules(
  config: SoundConfig,
  report: Report,
  { nowMs, secretsMayBeMissing = false }: ModuleCheckOptions = {},
): void {
  const place = {
    ipPolicies: config.ip_policies ?? {},
    ...(nowMs !== undefined && { nowMs }),
    secretsMayBeMissing,
  };
  const check = (edgeKind: EdgeKind, thing: object, pointer: string, terminatesTls: boolean): void => {
    for (const facts of CHECKED)
      checkModule(facts, thing, pointer, report, { ...place, edgeKind, terminatesTls });
  };
  for (const { pointer, thing } of edgesOf(config)) check('https', thing, pointer, true);
  for (const { pointer, thing } of routesOf(config)) {
    check('https', thing, pointer, true);
    const present = LOGINS.filter((type) => type in thing);
    if (present.length > 1) {
      const message = `a route has at most one of ${LOGINS.join(', ')}; this one has ${present.join(' and ')}`;
      report('edge.several_logins', `${pointer}/${present[1]!}`, message, {
        at: 'key',
        hint: 'remove all but one of them',
      });
    }
  }
  for (const { pointer, thing, kind } of streamEdgesOf(config))
    check(kind, thing, pointer, isTerminating(thing));
}

function checkModule(
  { type, check, secrets = [] }: ModuleFacts<never>,
  thing: object,
  pointer: string,
  report: Report,
  place: ModulePlace & Pick<ModuleCheckOptions, 'secretsMayBeMissing'>,
): void {
  const given = (thing as Readonly<Record<string, unknown>>)[type];
  if (given === undefined) return;
  const at = `${pointer}/${type}`;
  const config = secrets.reduce<unknown>((whole, path) => {
    return changedAt(whole, path, at, (secret, where) => {
      if (secret !== NOT_EXPORTED) return secret;
      if (place.secretsMayBeMissing !== true) reportNotExported(report, where);
      // As an invalid part, which other checks pass over.
      return undefined;
    });
  }, given);
  check?.(config as never, (code, below, message, more) => report(code, at + below, message, more), place);
}

function reportNotExported(report: Report, pointer: string): void {
  const message = `${quoted(NOT_EXPORTED)} stands for a secret that was not exported`;
  const notes = ['export --secrets writes it; only apply can keep the stored one'];
  report('edge.secret_not_exported', pointer, message, { hint: 'write the secret here', notes });
}
