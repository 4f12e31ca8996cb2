import { weakMemoize } from '../caches/weak_memoize.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { CREDENTIALS, type Mark, REDACTED, SECRET_PARAMETERS } from '../http/secrets.ts';
import { formDecode } from '../policy/env/percent.ts';
import { configSecrets, credentialNames } from './config_secrets.ts';
import { type HashKey, marking } from './keyed_hashes.ts';

/** What is redacted in recordings, besides the secrets of the configuration. */
export interface Redaction {
  /** Names in lower case: of headers, query parameters, form fields and members of JSON bodies. */
  readonly names: ReadonlySet<string>;
  /** Texts that must not occur anywhere. */
  readonly secrets: readonly string[];
  /** The key of the hashes in marks; null for marks without hashes. */
  readonly key: HashKey | null;
}

/** The default names; each applies to headers, query parameters, form fields and JSON members. */
const SECRET_NAMES: readonly string[] = [
  ...new Set([...CREDENTIALS, ...SECRET_PARAMETERS]),
  'cookie',
  'set-cookie',
  'code',
  'secret',
  'sig',
  'signature',
];

/** The default names, those given, and the names and secrets of a configuration. */
export function redaction(
  names: readonly string[] = [],
  config: EdgeConfig | null = null,
  key: HashKey | null = null,
): Redaction {
  return {
    names: new Set([
      ...SECRET_NAMES,
      ...names.map((name) => name.toLowerCase()),
      ...(config === null ? [] : credentialNames(config)),
    ]),
    secrets: config === null ? [] : configSecrets(config),
    key,
  };
}

/** A redaction, with its marks. */
export interface Rules extends Omit<Redaction, 'key'> {
  readonly mark: Mark;
  /** Marks a value of a query, which expressions read decoded. */
  readonly markParameter: Mark;
}

/** A redaction is of a process; the targets of all its requests are redacted by it. */
export const rulesOf = weakMemoize(({ key, names, secrets }: Redaction): Rules => {
  const mark = key === null ? () => REDACTED : marking(key);
  return { names, secrets, mark, markParameter: (raw) => mark(formDecode(raw)) };
});
