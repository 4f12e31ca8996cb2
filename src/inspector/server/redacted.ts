import type { EdgeConfig } from '../../edge/document/schema.ts';
import { type Redaction, jsonWithoutSecrets, redaction } from '../../replay/redact.ts';

/** Secrets of replaced configurations that are still redacted. */
const MAX_SECRETS = 2_000;
/** Configurations whose secrets are read together. */
const MAX_PENDING = 10;

/** The redaction of what pages get: as in recordings, for the secrets of all configurations so far. */
export class PageRedaction {
  readonly #pending: EdgeConfig[] = [];
  readonly #secrets = new Set<string>();
  #rules: Redaction;

  constructor(names: readonly string[]) {
    this.#rules = redaction(names);
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
    const { names, key } = this.#rules;
    for (const secret of this.#pending.flatMap((config) => redaction([], config).secrets)) {
      this.#secrets.delete(secret);
      this.#secrets.add(secret);
    }
    this.#pending.length = 0;
    for (const oldest of this.#secrets) {
      if (this.#secrets.size <= MAX_SECRETS) break;
      this.#secrets.delete(oldest);
    }
    // Longer ones first: one may be a part of another.
    this.#rules = { names, secrets: [...this.#secrets].sort((a, b) => b.length - a.length), key };
  }
}
