/** One requirement of a script, with the measured figure. */
export interface Check {
  readonly says: string;
  readonly holds: boolean;
  readonly found: string;
}

export interface Outcome {
  readonly name: string;
  readonly checks: readonly Check[];
}

export function check(message: string, holds: boolean, found: string | number): Check {
  return { says: message, holds, found: String(found) };
}

export const MIB = 2 ** 20;

/** An outcome as lines. */
export function told({ name, checks }: Outcome): string {
  return [
    name,
    ...checks.map(({ says, holds, found }) => `  ${holds ? 'holds' : 'FAILS'}  ${says}: ${found}`),
  ].join('\n');
}
