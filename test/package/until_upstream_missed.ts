import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a server until it has said that its upstream is missing, which is the last that it says. */
export async function untilUpstreamMissed(
  command: readonly string[],
  settings: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const server = spawn(process.execPath, command, { ...settings, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  server.stdout.on('data', (piece: Buffer) => {
    said += String(piece);
    if (said.includes('nothing listens there')) server.kill('SIGTERM');
  });
  await once(server, 'exit');
}
