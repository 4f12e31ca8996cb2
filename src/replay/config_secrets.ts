import { compileEdge } from '../edge/compile.ts';
import { namedSecrets } from '../edge/document/named_secrets.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';

/** Shorter texts are not treated as secrets, because they would match everywhere. */
const MIN_SECRET_UNITS = 6;

/** Texts of a configuration that are secret, the longest first. */
export function configSecrets(config: EdgeConfig): readonly string[] {
  const found = new Set<string>(namedSecrets(config));
  collect(config, found);
  // Policies are strings in the configuration: their actions are read from what is compiled from them.
  const { https } = compileEdge(config, (_route, _module, _config, initial) => initial());
  for (const { parts } of https.flatMap(({ pipelines }) => pipelines.flatMap(({ filters }) => filters))) {
    for (const [index, { type, config: own }] of parts.entries()) {
      if (index > 0) collect(own, found);
      const facts = index === 0 ? MODULE_FACTS.get(type) : ACTION_FACTS.get(type);
      for (const at of facts?.secrets ?? []) collectAt(own, at.split('/').slice(1), found);
    }
  }
  return [...found].sort((one, other) => other.length - one.length);
}

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
