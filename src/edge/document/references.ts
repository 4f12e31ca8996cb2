import { meantWord, removal } from '../../diagnostics/meant.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { listed, quoted } from '../../diagnostics/message_text.ts';
import type { Reference } from '../../filters/fact_values.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import type { EdgeCode } from './codes.ts';
import type { SoundConfig, Report } from './report.ts';
import { backendsOf, edgesOf, streamEdgesOf } from './routes_of.ts';

interface Use {
  readonly name: string;
  readonly pointer: string;
  readonly at: 'key' | 'value';
}

/** All uses of names of one kind; few are unknown, most are known. */
interface Uses {
  readonly known: Readonly<Record<string, unknown>>;
  readonly used: Set<string>;
  readonly unknown: Use[];
}

const usesOf = (known: Uses['known']): Uses => ({ known, used: new Set(), unknown: [] });

/** Records a use; its place is only computed for an unknown name. */
function note(uses: Uses, name: string | undefined, place: () => Omit<Use, 'name'>): void {
  if (name === undefined) return;
  uses.used.add(name);
  if (!Object.hasOwn(uses.known, name)) uses.unknown.push({ name, ...place() });
}

/** The names that modules use, by kind. */
type UsesByKind = Readonly<Record<Reference['kind'], Uses>>;

/** Checks that every used name exists, and warns about names that no route uses. */
export function checkReferences(config: SoundConfig, report: Report): void {
  const uses: UsesByKind = {
    backend: usesOf(config.backends ?? {}),
    certificate_authority: usesOf(config.certificate_authorities ?? {}),
    ip_policy: usesOf(config.ip_policies ?? {}),
  };
  for (const { pointer, thing } of edgesOf(config)) {
    noteModules(uses, thing, () => pointer);
    for (const [index, route] of (thing.routes ?? []).entries()) {
      if (route !== undefined) noteModules(uses, route, () => pointerTo(`${pointer}/routes`, index));
    }
  }
  for (const { pointer, thing } of streamEdgesOf(config)) noteModules(uses, thing, () => pointer);
  const { backend: backends, ip_policy: policies } = uses;
  const reached = reachable(config, backends.used);
  for (const { pointer, thing } of backendsOf(config)) {
    if (thing.weighted === undefined && thing.failover === undefined) continue;
    for (const { name, ...place } of childUses(pointer, thing)) note(backends, name, () => place);
  }
  if (config.backends !== undefined && checkUses(backends, 'backend', 'edge.unknown_backend', report)) {
    warnAboutUnused(
      backends,
      reached,
      report,
      'edge.unused_backend',
      '/backends',
      'no route leads to backend',
    );
  }
  checkAuthorities(config, uses.certificate_authority, report);
  if (
    config.ip_policies !== undefined &&
    checkUses(policies, 'IP policy', 'edge.unknown_ip_policy', report)
  ) {
    const message = 'no route refers to IP policy';
    warnAboutUnused(policies, policies.used, report, 'edge.unused_ip_policy', '/ip_policies', message);
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
  const message = 'no edge refers to certificate authority';
  const at = '/certificate_authorities';
  warnAboutUnused(uses, uses.used, report, 'edge.unused_certificate_authority', at, message);
}

/** Reports unknown names. If there are any, unused names are not reported, because one of them was probably meant. */
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
      notes: [`${PLURALS[thing]} of this file: ${listed(names)}`],
      ...meantWord(meant),
    });
  }
  return false;
}

function warnAboutUnused(
  { known }: Uses,
  used: ReadonlySet<string>,
  report: Report,
  code: EdgeCode,
  parent: string,
  message: string,
): void {
  for (const name of Object.keys(known)) {
    if (used.has(name)) continue;
    report(code, pointerTo(parent, name), `${message} ${quoted(name)}`, {
      at: 'key',
      hint: 'use it, or remove it',
      // Where a name is misspelt somewhere, this one may be meant: `checkEdge` gives this fix to files without errors only.
      fix: removal(false),
    });
  }
}

/** The modules with references, and where the names are in their configs. */
const REFERRING = Array.from(MODULE_FACTS.values(), ({ type, references = [] }) => ({
  type,
  references: references.map(({ kind, at }) => ({ kind, path: at.split('/').slice(1) })),
})).filter(({ references }) => references.length > 0);

/** Records the names that modules use, as declared in their facts. */
function noteModules(uses: UsesByKind, thing: object, pointerOf: () => string): void {
  for (const { type, references } of REFERRING) {
    const config = (thing as Readonly<Record<string, unknown>>)[type];
    if (config === undefined) continue;
    for (const { kind, path } of references) {
      noteNames(uses[kind], config, path, () => `${pointerOf()}/${type}`);
    }
  }
}

function noteNames(uses: Uses, value: unknown, path: readonly string[], pointerOf: () => string): void {
  const [key, ...rest] = path;
  if (key === undefined) {
    if (typeof value === 'string') note(uses, value, () => ({ pointer: pointerOf(), at: 'value' }));
  } else if (typeof value === 'object' && value !== null) {
    const parts = value as Readonly<Record<string, unknown>>;
    for (const name of key === '*' ? Object.keys(parts) : [key]) {
      noteNames(uses, parts[name], rest, () => pointerTo(pointerOf(), name));
    }
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

/** Names of backends that can be reached from the given ones, in any number of steps. */
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
