import { vi } from 'vitest';
import { stderr, stdout } from '../../src/cli/output.ts';
import { run as runCommandLine } from '../../src/cli/run.ts';
import type { Instance } from './instance.ts';

/** What a verb has printed. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a verb in this process, with the key of an instance. */
export async function runVerb({ key }: Pick<Instance, 'key'>, args: readonly string[]): Promise<Ran> {
  const said = { out: '', err: '' };
  const spies = [
    [stdout, 'out'],
    [stderr, 'err'],
    // Verbs that serve write to the streams of Node.
    [process.stdout, 'out'],
    [process.stderr, 'err'],
  ] as const;
  const written = spies.map(([stream, name]) =>
    vi.spyOn(stream as { write: (text: string) => unknown }, 'write').mockImplementation((text) => {
      said[name] += text;
      return true;
    }),
  );
  vi.stubEnv('EDGEPROOF_API_KEY', key);
  process.exitCode = 0;
  try {
    return { code: await runCommandLine(args), ...said };
  } finally {
    process.exitCode = 0;
    for (const spy of written) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}
