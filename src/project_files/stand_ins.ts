import type { TlsCertificate } from '../engine/connection.ts';

/** What took the place of a part of the configuration that this machine does not have. */
export interface Replacement {
  /** The part: `certificate shop`. */
  readonly part: string;
  /** What the configuration names, and why it cannot be used. */
  readonly written: string;
  /** What is used here. */
  readonly here: string;
}

/**
 * What replaces, while developing, files and secrets that only production has. Without it they are errors, as
 * everywhere else.
 */
export interface StandIns {
  /** The value of a setting of a login by its key, because another provider takes over; null if none does. */
  readonly loginSetting: (key: string) => string | null;
  /** The certificate of the local authority, PEM. */
  readonly authorityPem: () => string;
  /** A certificate of the local authority for hosts and wildcards. */
  readonly certificateFor: (hosts: readonly string[]) => TlsCertificate;
  /** Called for each part that is replaced. */
  readonly replaced: (replacement: Replacement) => void;
}
