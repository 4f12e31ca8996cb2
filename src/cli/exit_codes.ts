/** Exit codes of all verbs: each cause has one code. The help and docs/cli.md show this table. */
const CODES = {
  ok: [0, 'success'],
  failed: [1, 'a test failed, a file is not formatted, or a webhook is not accepted'],
  usage: [2, 'the command line or its environment is invalid, or a file cannot be read'],
  configInvalid: [3, 'the configuration has errors, found here or by the instance that it is applied to'],
  runtime: [
    4,
    'an I/O error: a port is taken, a file cannot be written, a server cannot be reached or refuses a request',
  ],
  differs: [5, 'behaviour differs: `diff` or a replay found changed decisions'],
  refuted: [6, 'a property is refuted, or a certificate is refused'],
  unknown: [7, 'more results are unknown than allowed'],
  gateMissed: [8, 'a threshold was missed, or a benchmark is slower than before'],
  internal: [70, 'a bug in edgeproof'],
  nothingSelected: [77, 'no case was selected'],
  interrupted: [130, 'stopped by a second signal'],
} as const;

type Codes = typeof CODES;

export const EXIT = Object.fromEntries(Object.entries(CODES).map(([name, [code]]) => [name, code])) as {
  readonly [Name in keyof Codes]: Codes[Name][0];
};

/** Each code and its cause, in order. */
export const EXIT_CODES: readonly (readonly [code: number, cause: string])[] = Object.values(CODES);
