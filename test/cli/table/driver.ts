import { createServer } from 'node:net';
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { stderr, stdout } from '../../../src/cli/output.ts';
import { run } from '../../../src/cli/run.ts';

/**
 * Runs command lines one after the other in this process, in the present folder, and prints what each did as a line of
 * JSON: starting a process for each would take most of the time. Verbs that serve are stopped when they are ready.
 */

interface Job {
  readonly name: string;
  readonly args: readonly string[];
}

/** A verb that neither ends nor is ready after this time has not noticed its fault. */
const STUCK_MS = 100_000;
const STILL_RUNNING = -1;
const SHOWN_UNITS = 4_000;
const READY = /ready in \d|management API http/;
const jobs = JSON.parse(process.argv[2]!) as readonly Job[];
process.setMaxListeners(0);
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

/** A port that is taken while this runs; `TAKEN` in a command line stands for it. */
const taker = createServer().listen(0, '127.0.0.1');
await once(taker, 'listening');
const taken = String((taker.address() as { port: number }).port);

const exit = process.exit.bind(process);
const write = process.stdout.write.bind(process.stdout);
for (const { name, args } of jobs) {
  let text = '';
  let isStopped = false;
  const heard = (chunk: string | Uint8Array): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    if (!isStopped && READY.test(text)) setImmediate(() => process.emit('SIGTERM'));
    isStopped ||= READY.test(text);
    return true;
  };
  // Verbs that serve write to the streams.
  for (const output of [process.stdout, process.stderr, stdout, stderr]) output.write = heard;
  process.exitCode = undefined;
  const ran = run(args.map((word) => word.replaceAll('TAKEN', taken)));
  const ended = new Promise<number>((resolve) => {
    process.exit = ((exitCode: number) => resolve(exitCode)) as typeof process.exit;
  });
  const code = await Promise.race([ran, ended, after(STUCK_MS, STILL_RUNNING, { ref: false })]);
  process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT');
  write(
    `${JSON.stringify({ name, args, code, text: text.slice(-SHOWN_UNITS).replaceAll(taken, 'TAKEN') })}\n`,
  );
}
process.stdout.write = write;
exit(0);
