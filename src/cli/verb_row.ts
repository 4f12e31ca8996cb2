import type { Command } from 'commander';
import type { OptionGroups } from './option_groups.ts';

/** The export of a verb's file: it adds arguments, options and action to its command. */
export interface VerbFile {
  readonly register: (command: Command) => void;
  /** Whether it describes the other verbs, so that they have to be registered, too. */
  readonly readsAllVerbs?: true;
}

/** A verb as the help shows it. */
export interface VerbRow {
  readonly group: string;
  /** What it does, as a phrase. */
  readonly does: string;
  /** Command lines without `edgeproof`, with a remark; they run in a folder that `init` filled, and tests run them. */
  readonly examples: readonly (readonly [line: string, remark?: string])[];
  /** Headings of its options; absent where they are few. */
  readonly options?: OptionGroups;
  /** The file of the verb, which is loaded only when the verb runs. */
  readonly load: () => Promise<VerbFile>;
}
