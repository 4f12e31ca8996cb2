import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../../built.ts';

export interface Job {
  readonly name: string;
  readonly args: readonly string[];
}

export interface Outcome extends Job {
  readonly code: number;
  /** All that was printed. */
  readonly text: string;
}

const DRIVER = fileURLToPath(new URL('driver.ts', import.meta.url));

/** Runs command lines in one process, in order. */
export async function ranAll(
  jobs: readonly Job[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Outcome[]> {
  // `playground` serves what was built.
  await ensureBuilt();
  return new Promise((resolve, reject) => {
    const options = {
      cwd,
      env: { ...process.env, NO_COLOR: '1', EDGEPROOF_HOME: `${cwd}/home`, ...env },
      maxBuffer: 1 << 28,
    };
    const child = execFile(
      process.execPath,
      ['--no-warnings', DRIVER, JSON.stringify(jobs)],
      options,
      (error, stdout, stderr) => {
        const lines = stdout.split('\n').filter((line) => line.startsWith('{"name"'));
        const outcomes = lines.map((line) => JSON.parse(line) as Outcome);
        if (outcomes.length === jobs.length) resolve(outcomes);
        else
          reject(
            new Error(
              `stopped at ${jobs[outcomes.length]?.args.join(' ')}\n${error?.message.slice(-500)}\n${stderr}`,
            ),
          );
      },
    );
    child.stdin?.end();
  });
}
