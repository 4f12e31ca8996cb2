/** Limits that several kinds of login share. */

/** Tolerated difference between our clock and those of other nodes and of identity providers. */
export const CLOCKS_DIFFER_MS = 60_000;

/** Maximum length of a form that a provider has a browser post. */
export const FORM_LIMIT_BYTES = 1_024 * 1_024;
