import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./z3_process.mjs', import.meta.url));
/** Milliseconds that the solver thinks about one question. */
const THINKS_MS = 5_000;
/** Its package can wait forever for an answer: then its process is replaced. */
const ANSWERS_MS = 60_000;

/** The solver z3, as npm packages it, in a process of its own. */
export class Solver {
  #process: ChildProcess | null = null;

  /** Whether there are values for which all assertions of a script hold: `sat`, `unsat` or `unknown`. */
  async check(script: string): Promise<string> {
    this.#process ??= await started();
    const answer = message(this.#process);
    this.#process.send(script);
    const result = await answer;
    if (result === null) this.end();
    return result ?? 'unknown';
  }

  end(): void {
    this.#process?.kill('SIGKILL');
    this.#process = null;
  }
}

async function started(): Promise<ChildProcess> {
  const child = fork(PROGRAM, [String(THINKS_MS)], { execArgv: [] });
  if ((await message(child)) !== 'ready') throw new Error('z3 does not start');
  return child;
}

/** The next message; null if none comes in time. */
async function message(child: ChildProcess): Promise<string | null> {
  try {
    const [text] = (await once(child, 'message', { signal: AbortSignal.timeout(ANSWERS_MS) })) as [string];
    return text;
  } catch {
    return null;
  }
}
