/** A configured part of a filter, such as an action of a traffic policy. */
export interface HandlerPart {
  readonly type: string;
  readonly pointer: string;
  /** As `compile` got it: aliases resolved, defaults filled in. */
  readonly config: unknown;
}
