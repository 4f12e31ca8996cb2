import type { Redact } from '../engine/redact.ts';

/** The source of secrets for policies, provided by the operator of the edge. */
export interface SecretProvider {
  /** The text of a secret; undefined when the vault or the secret does not exist. */
  readonly get: (vault: string, name: string) => string | undefined;
  /** Names of secrets by vault, for the checker; absent when they cannot be listed. */
  readonly list?: () => Readonly<Record<string, readonly string[]>>;
}

/** A provider, or plain texts by vault and name. */
export type SecretSource = SecretProvider | Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Converts either form to a provider. */
export function secretProvider(source: SecretSource): SecretProvider {
  if (isProvider(source)) return source;
  return {
    get: (vault, name) => {
      const names = Object.hasOwn(source, vault) ? source[vault]! : {};
      return Object.hasOwn(names, name) ? names[name] : undefined;
    },
    list: () =>
      Object.fromEntries(Object.entries(source).map(([vault, names]) => [vault, Object.keys(names)])),
  };
}

function isProvider(source: SecretSource): source is SecretProvider {
  return typeof source['get'] === 'function';
}

/** Secrets that policies read, and a function that hides them in reports about an exchange. */
export interface KeptSecrets {
  readonly get: SecretProvider['get'];
  readonly redact: Redact;
  /** `redact`, or null while there is nothing to hide. */
  readonly redactor: () => Redact | null;
  /** Hides a text that was not read as a secret of the provider. */
  readonly remember: (text: string) => void;
}

/** Maximum number of remembered forms; the oldest are dropped first, because a provider may rotate secrets forever. */
const FORMS_KEPT = 4_096;
const STARS = '***';

/** Remembers the secrets that were read; wherever one appears, plain or encoded, it is hidden. */
export function keepSecrets(provider: SecretProvider): KeptSecrets {
  const forms = new Set<string>();
  let longestFirst: readonly string[] = [];
  const remember = (text: string): void => {
    if (text === '' || forms.has(text)) return;
    for (const form of formsOf(text)) forms.add(form);
    for (const oldest of forms) {
      if (forms.size <= FORMS_KEPT) break;
      forms.delete(oldest);
    }
    // A secret may be part of another one.
    longestFirst = [...forms].sort((one, other) => other.length - one.length);
  };
  const redact: Redact = (text) => {
    if (text.length < (longestFirst.at(-1)?.length ?? Infinity)) return text;
    return longestFirst.reduce((shown, form) => shown.replaceAll(form, STARS), text);
  };
  return {
    get: (vault, name) => {
      const text = provider.get(vault, name);
      if (text !== undefined) remember(text);
      return text;
    },
    remember,
    redact,
    redactor: () => (longestFirst.length === 0 ? null : redact),
  };
}

/** Forms in which a secret may appear: as is, lower case (events), in URLs, in JSON, in base64. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  return [
    text,
    text.toLowerCase(),
    encodeURIComponent(text.toWellFormed()),
    JSON.stringify(text).slice(1, -1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ];
}
