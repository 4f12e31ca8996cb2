/** One requirement of a script, with the measured figure. */
export interface Check {
  readonly message: string;
  readonly holds: boolean;
  readonly found: string;
}

export interface Outcome {
  readonly name: string;
  readonly checks: readonly Check[];
}

export function check(message: string, holds: boolean, found: string | number): Check {
  return { message, holds, found: String(found) };
}

export const MIB = 2 ** 20;

/** An outcome as lines. */
export function told({ name, checks }: Outcome): string {
  return [
    name,
    ...checks.map(({ message, holds, found }) => `  ${holds ? 'holds' : 'FAILS'}  ${message}: ${found}`),
  ].join('\n');
}
