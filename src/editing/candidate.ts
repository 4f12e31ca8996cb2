/** A word that can be written at a cursor. */
export interface Candidate {
  readonly text: string;
  readonly kind: 'key' | 'value' | 'name' | 'function' | 'variable';
  readonly doc: string;
  /** How a function is called, or the type of a variable. */
  readonly detail?: string;
}
