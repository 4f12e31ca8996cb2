import type { DataPlane } from './api/contract.ts';
import type { EdgeChange } from './api/edge_slice.ts';
import type { PersistentMap } from '../caches/persistent_map.ts';
import { deepFreeze } from '../config_file/freeze.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { Checked } from '../edge/document/check.ts';
import { type ConfigTables, tablesOf, withTables } from '../edge/document/config_tables.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { validationCache } from '../edge/document/validation_cache.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import { type EdgeOfFile, type UsableConfig, ConfigError } from '../edgeproof.ts';
import { largePolicies } from './large_policies.ts';
import { restricted } from './resources/account_restriction.ts';
import { type EdgeDocument, servedConfig } from './resources/edge_document.ts';
import type { CurrentSecrets } from './vault_secrets.ts';

/** Controls the edge by documents. */
export function planeOf(edge: EdgeOfFile, first: UsableConfig, secrets: CurrentSecrets): DataPlane {
  // Bodies of stored objects are immutable, so parts of documents built from them can be cached by identity.
  const known = validationCache();
  let current = first;
  const large = largePolicies(first.config.service_name, known);
  /** The configuration after a change; null with findings. */
  const following = ({ document, changed }: EdgeChange) => {
    const { value, endpoints } = document;
    const checked = checkWholeEdge(
      { value: withFrozenFacts(value) },
      { cache: known, endpoints, places: false },
    );
    const { config, diagnostics: findings } = checked;
    if (config === null || hasErrors(findings)) return { next: null, findings };
    const part = usableConfig(checked, config, document);
    return { next: changed === null ? part : patched(current, part, changed), findings };
  };
  return {
    prepare: large.prepare,
    check: (change) =>
      large.ahead(change, function* () {
        const { next } = following(change);
        // What has findings is left to the swap, which reports them.
        if (next !== null) yield* edge.ahead(next);
      }),
    swap: (change) => {
      const { next, findings } = following(change);
      large.checked();
      if (next === null) return { findings, revert: () => undefined };
      const { document, hasSecrets } = change;
      const before = { config: current, secrets: secrets.current() };
      const swapBack = edge.swapTo(next);
      large.swapped();
      current = next;
      if (hasSecrets) secrets.replace(document.secrets);
      const revert = (): void => {
        swapBack();
        current = before.config;
        secrets.replace(before.secrets);
      };
      return { findings: [], revert };
    },
    stage: (change) => {
      const { next, findings } = following(change);
      large.checked();
      if (next === null) return { findings, activate: () => undefined, drop: () => undefined };
      const { document, hasSecrets } = change;
      const before = current;
      const staged = edge.stage(next);
      large.swapped();
      current = next;
      return {
        findings: [],
        activate: () => {
          staged.activate();
          if (hasSecrets) secrets.replace(document.secrets);
        },
        drop: () => {
          staged.drop();
          current = before;
        },
      };
    },
    settled: () => edge.settled(),
  };
}

/** Frozen facts keep their identity, by which they are compiled once. */
function withFrozenFacts<Value extends EdgeDocument['value']>(value: Value): Value {
  deepFreeze(value['facts']);
  return value;
}

/** Checks a document and returns the part that can be served; throws ConfigError. */
export function usableDocument(document: EdgeDocument): UsableConfig {
  const checked = checkWholeEdge(
    { value: document.value },
    { cache: validationCache(), endpoints: document.endpoints, places: false },
  );
  if (checked.config === null) throw new ConfigError(checked.diagnostics);
  return usableConfig(checked, checked.config, document);
}

/** The part of a document that is served; restrictions of the account hold for the endpoints of agents, too. */
function usableConfig(checked: Checked, config: EdgeConfig, document: EdgeDocument): UsableConfig {
  const { restriction, endpoints } = document;
  const pooled = new Set(Object.keys(endpoints).filter((id) => endpoints[id]!.isPooled));
  const served = { ...checked, config: deepFreeze(servedConfig(config, document)), pooled };
  if (restriction === null) return served;
  return { ...served, restrict: (parts) => restricted(parts, restriction) };
}

/** A configuration with the changed parts of another one; parts that the other one does not have are removed. */
function patched(
  { config, pooled = NONE, ...rest }: UsableConfig,
  { config: part, pooled: pooledParts = NONE }: UsableConfig,
  changed: NonNullable<EdgeChange['changed']>,
): UsableConfig {
  const [tables, parts] = [tablesOf(config), tablesOf(part)];
  const of = <Part>(all: PersistentMap<Part>, ofPart: PersistentMap<Part>): PersistentMap<Part> =>
    all.with(Array.from(changed, (name) => [name, ofPart.get(name)]));
  const next: ConfigTables = {
    ip_policies: parts.ip_policies,
    backends: of(tables.backends, parts.backends),
    certificate_authorities: of(tables.certificate_authorities, parts.certificate_authorities),
    https: of(tables.https, parts.https),
    tls: of(tables.tls, parts.tls),
    tcp: of(tables.tcp, parts.tcp),
  };
  const certificates = patchedRecord(config.tls_certificates, part.tls_certificates, changed);
  return {
    ...rest,
    config: withTables(config, next, certificates),
    pooled: patchedSet(pooled, pooledParts, changed),
  };
}

const NONE: ReadonlySet<string> = new Set();

/** A set with the changed names of another one: the same set if it has none of them. */
function patchedSet(
  names: ReadonlySet<string>,
  part: ReadonlySet<string>,
  changed: ReadonlySet<string>,
): ReadonlySet<string> {
  const differing = Array.from(changed).filter((name) => names.has(name) !== part.has(name));
  if (differing.length === 0) return names;
  const next = new Set(names);
  for (const name of differing) if (!next.delete(name)) next.add(name);
  return next;
}

/** A record with the changed members of another one, in the same order: the same record if it has none of them. */
function patchedRecord<Part>(
  record: Readonly<Record<string, Part>>,
  part: Readonly<Record<string, Part>>,
  changed: ReadonlySet<string>,
): Record<string, Part> {
  let next: Record<string, Part> | null = null;
  for (const name of changed) {
    if (Object.hasOwn(part, name)) (next ??= { ...record })[name] = part[name]!;
    else if (Object.hasOwn(record, name)) delete (next ??= { ...record })[name];
  }
  return next ?? record;
}
