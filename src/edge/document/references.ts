import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, listed, quoted } from '../../document/words.ts';
import type { EdgeCode } from './codes.ts';
import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';
import { type SoundRoute, type SoundStreamEdge, backendsOf, edgesOf, streamEdgesOf } from './routes_of.ts';

/** One place where a name is used. */
interface Use {
  readonly name: string;
  readonly pointer: string;
  readonly at: 'key' | 'value';
}

/** Names of one kind of thing, as they are used: those that are not known are few, all others are many. */
interface Uses {
  readonly known: Readonly<Record<string, unknown>>;
  readonly used: Set<string>;
  readonly unknown: Use[];
}

const usesOf = (known: Uses['known']): Uses => ({ known, used: new Set(), unknown: [] });

/** Notes a use; where it stands is asked only of a name that is not known. */
function note(uses: Uses, name: string | undefined, place: () => Omit<Use, 'name'>): void {
  if (name === undefined) return;
  uses.used.add(name);
  if (!Object.hasOwn(uses.known, name)) uses.unknown.push({ name, ...place() });
}

/** Checks that every name that is used exists, and warns of names that no route leads to. */
export function checkReferences(config: SoundConfig, report: Report): void {
  const backends = usesOf(config.backends ?? {});
  const policies = usesOf(config.ip_policies ?? {});
  const authorities = usesOf(config.certificate_authorities ?? {});
  for (const { pointer, thing } of edgesOf(config)) {
    noteAuthorities(authorities, thing, pointer);
    for (const [index, route] of (thing.routes ?? []).entries()) {
      if (route === undefined) continue;
      noteModules(backends, policies, route, () => pointerTo(`${pointer}/routes`, index));
    }
  }
  for (const { pointer, thing } of streamEdgesOf(config)) {
    noteAuthorities(authorities, thing, pointer);
    noteModules(backends, policies, thing, () => pointer);
  }
  const reached = reachable(config, backends.used);
  for (const { pointer, thing } of backendsOf(config)) {
    if (thing.weighted === undefined && thing.failover === undefined) continue;
    for (const { name, ...place } of childUses(pointer, thing)) note(backends, name, () => place);
  }
  if (config.backends !== undefined && checkUses(backends, 'backend', 'edge.unknown_backend', report)) {
    warnOfUnused(backends, reached, report, 'edge.unused_backend', '/backends', 'no route leads to backend');
  }
  checkAuthorities(config, authorities, report);
  if (
    config.ip_policies !== undefined &&
    checkUses(policies, 'IP policy', 'edge.unknown_ip_policy', report)
  ) {
    const says = 'no route refers to IP policy';
    warnOfUnused(policies, policies.used, report, 'edge.unused_ip_policy', '/ip_policies', says);
  }
}

const PLURALS = {
  backend: 'backends',
  'IP policy': 'IP policies',
  'certificate authority': 'certificate authorities',
} as const;

function checkAuthorities(config: SoundConfig, uses: Uses, report: Report): void {
  if (config.certificate_authorities === undefined) return;
  const code = 'edge.unknown_certificate_authority';
  if (!checkUses(uses, 'certificate authority', code, report)) return;
  const says = 'no edge refers to certificate authority';
  const at = '/certificate_authorities';
  warnOfUnused(uses, uses.used, report, 'edge.unused_certificate_authority', at, says);
}

/** Reports names that do not exist. While there are any, an unused name is likely the one that was meant. */
function checkUses(
  { known, unknown }: Uses,
  thing: keyof typeof PLURALS,
  code: EdgeCode,
  report: Report,
): boolean {
  if (unknown.length === 0) return true;
  const names = Object.keys(known);
  for (const { name, pointer, at } of unknown) {
    const meant = suggest(name, names);
    report(code, pointer, `there is no ${thing} ${quoted(name)}`, {
      at,
      hint: didYouMean(meant),
      notes: [`${PLURALS[thing]} of this file: ${listed(names)}`],
      fix: meant === undefined ? undefined : { says: `write ${meant}`, text: meant, safe: false },
    });
  }
  return false;
}

function warnOfUnused(
  { known }: Uses,
  used: ReadonlySet<string>,
  report: Report,
  code: EdgeCode,
  parent: string,
  says: string,
): void {
  for (const name of Object.keys(known)) {
    if (used.has(name)) continue;
    report(code, pointerTo(parent, name), `${says} ${quoted(name)}`, { at: 'key' });
  }
}

/** The authorities that mutual TLS refers to. */
function noteAuthorities(uses: Uses, { mutual_tls: mutual }: SoundStreamEdge, pointer: string): void {
  for (const [index, name] of (mutual?.certificate_authority_ids ?? []).entries()) {
    note(uses, name, () => ({
      pointer: pointerTo(`${pointer}/mutual_tls/certificate_authority_ids`, index),
      at: 'value',
    }));
  }
}

function noteModules(
  backends: Uses,
  policies: Uses,
  { backend, ip_restriction: restriction }: Pick<SoundRoute, 'backend' | 'ip_restriction'>,
  pointerOf: () => string,
): void {
  note(backends, backend?.backend_id, () => ({ pointer: `${pointerOf()}/backend/backend_id`, at: 'value' }));
  for (const [index, name] of (restriction?.ip_policy_ids ?? []).entries()) {
    note(policies, name, () => ({
      pointer: pointerTo(`${pointerOf()}/ip_restriction/ip_policy_ids`, index),
      at: 'value',
    }));
  }
}

/** The children that a weighted or failover backend names. */
export function childUses(
  pointer: string,
  backend: Pick<ReturnType<typeof backendsOf>[number]['thing'], 'weighted' | 'failover'>,
): Use[] {
  const weighted = Object.keys(backend.weighted ?? {}).map((name): Use => ({
    name,
    pointer: pointerTo(`${pointer}/weighted`, name),
    at: 'key',
  }));
  const failover = (backend.failover ?? []).flatMap((name, index): Use[] =>
    name === undefined ? [] : [{ name, pointer: pointerTo(`${pointer}/failover`, index), at: 'value' }],
  );
  return [...weighted, ...failover];
}

/** Names of backends that are reached from some, over any number of steps. */
function reachable(config: SoundConfig, from: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  const open = [...from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const backend = config.backends?.[name];
    if (backend !== undefined) open.push(...childUses('', backend).map((use) => use.name));
  }
  return found;
}
