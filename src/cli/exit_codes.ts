/** Exit codes of all verbs: each cause has one code (docs/cli.md). */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  configInvalid: 3,
  runtime: 4,
  /** Behaviour differs: `diff` or a replay found changed decisions. */
  differs: 5,
  /** A property is refuted. */
  refuted: 6,
  /** More is unknown than was allowed. */
  unknown: 7,
  /** A threshold was missed, such as one of coverage. */
  gateMissed: 8,
  internal: 70,
  nothingSelected: 77,
  interrupted: 130,
} as const;
