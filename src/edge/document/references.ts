import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { EdgeCode } from './codes.ts';
import type { SoundConfig } from './edge_shape.ts';
import { didYouMean, listed, quoted } from './report.ts';
import type { Report } from './report.ts';
import { backendsOf, edgesOf, routesOf, streamEdgesOf } from './routes_of.ts';

/** One place where a name is used. */
interface Use {
  readonly name: string;
  readonly pointer: string;
  readonly at: 'key' | 'value';
}

/** Checks that every name that is used exists, and warns of names that no route leads to. */
export function checkReferences(config: SoundConfig, report: Report): void {
  const { backends, ip_policies: policies } = config;
  if (backends !== undefined) {
    const uses = backendUses(config);
    const names = Object.keys(backends);
    const allKnown = checkUses(uses, names, 'backend', 'edge.unknown_backend', report);
    const used = reachable(config, uses);
    for (const name of allKnown ? names : []) {
      if (used.has(name)) continue;
      const says = `no route leads to backend ${quoted(name)}`;
      report('edge.unused_backend', pointerTo('/backends', name), says, { at: 'key' });
    }
  }
  checkAuthorities(config, report);
  if (policies !== undefined) {
    const uses = policyUses(config);
    const names = Object.keys(policies);
    const allKnown = checkUses(uses, names, 'IP policy', 'edge.unknown_ip_policy', report);
    const used = new Set(uses.map((use) => use.name));
    for (const name of allKnown ? names : []) {
      if (used.has(name)) continue;
      const says = `no route refers to IP policy ${quoted(name)}`;
      report('edge.unused_ip_policy', pointerTo('/ip_policies', name), says, { at: 'key' });
    }
  }
}

const PLURALS = {
  backend: 'backends',
  'IP policy': 'IP policies',
  'certificate authority': 'certificate authorities',
} as const;

/** The authorities that mutual TLS refers to. */
function checkAuthorities(config: SoundConfig, report: Report): void {
  const { certificate_authorities: authorities } = config;
  if (authorities === undefined) return;
  const uses = [...edgesOf(config), ...streamEdgesOf(config)].flatMap(({ pointer, thing }) =>
    (thing.mutual_tls?.certificate_authority_ids ?? []).flatMap((name, index): Use[] =>
      name === undefined
        ? []
        : [
            {
              name,
              pointer: pointerTo(`${pointer}/mutual_tls/certificate_authority_ids`, index),
              at: 'value',
            },
          ],
    ),
  );
  const names = Object.keys(authorities);
  const code = 'edge.unknown_certificate_authority';
  const allKnown = checkUses(uses, names, 'certificate authority', code, report);
  const used = new Set(uses.map((use) => use.name));
  for (const name of allKnown ? names : []) {
    if (used.has(name)) continue;
    const says = `no edge refers to certificate authority ${quoted(name)}`;
    report('edge.unused_certificate_authority', pointerTo('/certificate_authorities', name), says, {
      at: 'key',
    });
  }
}

/** Reports names that do not exist. While there are any, an unused name is likely the one that was meant. */
function checkUses(
  uses: readonly Use[],
  names: readonly string[],
  thing: keyof typeof PLURALS,
  code: EdgeCode,
  report: Report,
): boolean {
  const known = new Set(names);
  const unknown = uses.filter((use) => !known.has(use.name));
  for (const { name, pointer, at } of unknown) {
    const meant = suggest(name, names);
    report(code, pointer, `there is no ${thing} ${quoted(name)}`, {
      at,
      hint: didYouMean(meant),
      notes: [`${PLURALS[thing]} of this file: ${listed(names)}`],
      fix: meant === undefined ? undefined : { says: `write ${meant}`, text: meant, safe: false },
    });
  }
  return unknown.length === 0;
}

function backendUses(config: SoundConfig): Use[] {
  const uses: Use[] = [];
  for (const { pointer, thing } of [...routesOf(config), ...streamEdgesOf(config)]) {
    const name = thing.backend?.backend_id;
    if (name !== undefined) uses.push({ name, pointer: `${pointer}/backend/backend_id`, at: 'value' });
  }
  for (const backend of backendsOf(config)) uses.push(...childUses(backend.pointer, backend.thing));
  return uses;
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

/** Names of backends that some route leads to, over any number of steps. */
function reachable(config: SoundConfig, uses: readonly Use[]): Set<string> {
  const found = new Set<string>();
  const open = uses.filter((use) => use.pointer.startsWith('/edges/')).map((use) => use.name);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const backend = config.backends?.[name];
    if (backend !== undefined) open.push(...childUses('', backend).map((use) => use.name));
  }
  return found;
}

function policyUses(config: SoundConfig): Use[] {
  return [...routesOf(config), ...streamEdgesOf(config)].flatMap(({ pointer, thing }) =>
    (thing.ip_restriction?.ip_policy_ids ?? []).flatMap((name, index): Use[] =>
      name === undefined
        ? []
        : [{ name, pointer: pointerTo(`${pointer}/ip_restriction/ip_policy_ids`, index), at: 'value' }],
    ),
  );
}
