import type { Redaction } from '../../replay/redaction.ts';
import type { Store } from './store.ts';
import type { Watch } from './watch.ts';

/** The files that a configuration is made of; for configurations without files it is empty. */
export interface ConfigurationFiles {
  /** Names as they are in places of diagnostics: the main file first, then those that it includes. */
  readonly names: () => readonly string[];
}

/** What handlers work with. */
export interface InspectorContext {
  readonly store: Store;
  readonly watch: Watch;
  readonly files: ConfigurationFiles;
  readonly version: string;
  readonly nowMs: () => number;
  /** The rules of redaction: those of recordings, with the secrets of all configurations so far. */
  readonly redaction: () => Redaction;
}
