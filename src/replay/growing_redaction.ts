import type { EdgeConfig } from '../edge/document/schema.ts';
import { configSecrets, credentialNames } from './config_secrets.ts';
import type { HashKey } from './keyed_hashes.ts';
import { jsonWithoutSecrets } from './redact_text.ts';
import { type Redaction, redaction } from './redaction.ts';

/** Secrets, and names, of replaced configurations that are still redacted. */
const MAX_SECRETS = 2_000;
/** Configurations whose secrets are read together. */
const MAX_PENDING = 10;

/** The redaction of recordings and of what pages get, for the names and secrets of all configurations so far. */
export class GrowingRedaction {
  readonly #pending: EdgeConfig[] = [];
  readonly #secrets = new Set<string>();
  readonly #given: readonly string[];
  readonly #names = new Set<string>();
  #rules: Redaction;

  constructor(names: readonly string[], key: HashKey | null = null) {
    this.#given = names;
    this.#rules = redaction(names, null, key);
  }

  /** Adds the secrets of a configuration. They are read when they are needed, because that compiles it. */
  add(config: EdgeConfig): void {
    this.#pending.push(config);
    if (this.#pending.length > MAX_PENDING) this.#read();
  }

  readonly rules = (): Redaction => {
    if (this.#pending.length > 0) this.#read();
    return this.#rules;
  };

  readonly text = (json: string): string => {
    const { secrets } = this.rules();
    return secrets.length === 0 ? json : jsonWithoutSecrets(json, secrets);
  };

  #read(): void {
    for (const config of this.#pending) {
      keep(this.#secrets, configSecrets(config));
      keep(this.#names, credentialNames(config));
    }
    this.#pending.length = 0;
    const { names, key } = redaction([...this.#given, ...this.#names], null, this.#rules.key);
    // Longer ones first: one may be a part of another.
    this.#rules = { names, secrets: [...this.#secrets].sort((a, b) => b.length - a.length), key };
  }
}

/** Adds texts as the newest ones; the oldest make way. */
function keep(kept: Set<string>, texts: readonly string[]): void {
  for (const text of texts) {
    kept.delete(text);
    kept.add(text);
  }
  for (const oldest of kept) {
    if (kept.size <= MAX_SECRETS) break;
    kept.delete(oldest);
  }
}
