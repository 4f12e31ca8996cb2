import { weakMemoize } from '../caches/weak_memoize.ts';
import { compileEdge } from '../edge/compile.ts';
import { namedSecrets } from '../edge/document/named_secrets.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { asciiLower } from '../http/ascii.ts';

/** Shorter texts are not treated as secrets, because they would match everywhere. */
const MIN_SECRET_UNITS = 6;

/** Texts of a configuration that are secret, the longest first. */
export function configSecrets(config: EdgeConfig): readonly string[] {
  const found = new Set<string>(namedSecrets(config));
  collect(config, found);
  for (const { facts, config: own, isAction } of partsOf(config)) {
    if (isAction) collect(own, found);
    for (const at of facts?.secrets ?? []) collectAt(own, at.split('/').slice(1), found);
  }
  return [...found].sort((one, other) => other.length - one.length);
}

/** Names, in lower case, of the fields and members of bodies in which clients send credentials to a configuration. */
export function credentialNames(config: EdgeConfig): readonly string[] {
  return partsOf(config).flatMap(({ facts, config: own }) =>
    (facts?.credentials?.(own as never) ?? []).map((name) => asciiLower(name.trim())),
  );
}

/** The modules and actions of a configuration. Policies are strings in it, so it is compiled. */
const partsOf = weakMemoize((config: EdgeConfig) => {
  const { https } = compileEdge(config, (_route, _module, _config, initial) => initial());
  const filters = https.flatMap(({ pipelines }) => pipelines.flatMap((pipeline) => pipeline.filters));
  return filters.flatMap(({ parts }) =>
    parts.map(({ type, config: own }, index) => {
      const isAction = index > 0;
      return { facts: isAction ? ACTION_FACTS.get(type) : MODULE_FACTS.get(type), config: own, isAction };
    }),
  );
});

/** Names of secrets in data that users make up, such as that of `log`. */
const SECRET_KEY = /^(?:client_secret|credentials|password|secret|secrets|token)$/;

/** Collects every string below a key that marks a secret. */
function collect(value: unknown, found: Set<string>, isSecret = false): void {
  if (typeof value === 'string') {
    if (isSecret) add(value, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      collect(inner, found, isSecret || SECRET_KEY.test(key));
    }
  }
}

/** Collects the strings at a path, in which `*` is any element. */
function collectAt(value: unknown, [key, ...rest]: readonly string[], found: Set<string>): void {
  if (key === undefined) {
    if (typeof value === 'string') add(value, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (key === '*' || key === name) collectAt(inner, rest, found);
    }
  }
}

/** Adds a secret, and the password of a `user:password` pair. Templates are not secrets themselves. */
function add(text: string, found: Set<string>): void {
  if (text.length < MIN_SECRET_UNITS || text.includes('${')) return;
  found.add(text);
  const colon = text.indexOf(':');
  if (colon > 0 && text.length - colon > MIN_SECRET_UNITS) found.add(text.slice(colon + 1));
}
