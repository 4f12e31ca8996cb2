import { RE2JS, RE2Set } from 're2js';

/** The classes of the library. In the package it is run by the first call: `rolldown.config.ts`. */
export function re2(): { readonly RE2JS: typeof RE2JS; readonly RE2Set: typeof RE2Set } {
  return { RE2JS, RE2Set };
}
