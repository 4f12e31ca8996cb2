import { execFile, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const NODE = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));

/** Runs a verb of the package that a folder has, until the work is done, which gets what the verb has said at its start. */
export async function whileRunning(
  folder: string,
  args: readonly string[],
  work: (said: string) => Promise<void>,
): Promise<void> {
  const env = { ...process.env, XDG_DATA_HOME: folder, NO_COLOR: '1', VITEST: undefined };
  const main = join(folder, 'node_modules/edgeproof/dist/lib/main.cjs');
  const child = spawn(NODE, [main, ...args], { cwd: folder, env });
  const closed = new Promise((resolve) => child.once('close', resolve));
  let said = '';
  const ready = new Promise<void>((resolve, reject) => {
    const hear = (bytes: Buffer): void => {
      said += bytes.toString();
      const isComplete =
        args[0] === 'serve' ? /admin key.*\n/.test(said) : / agent +server_addr.*\n/.test(said);
      if (isComplete) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', () => reject(new Error(said)));
  });
  try {
    await ready;
    await work(said);
  } finally {
    child.kill();
    await closed;
  }
}

/** What a program says that has the line for Node of the ready screen, with an app, and asks at its URL. */
export async function agentSays(folder: string, said: string, token = 'any'): Promise<string> {
  const line = / Node +(await .*)$/m.exec(said)![1]!.replace('<authtoken>', token);
  await writeFile(
    join(folder, 'agent.mjs'),
    `import ngrok from '@ngrok/ngrok';
     import { createServer } from 'node:http';
     import { get } from 'node:https';
     const app = createServer((request, response) => response.end('from the app'));
     app.listen(0, '127.0.0.1', async () => {
       const listener = ${line.replace('3000', 'app.address().port')};
       const { hostname, port } = new URL(listener.url());
       const place = { host: '127.0.0.1', port, servername: hostname, headers: { host: hostname } };
       get(place, (response) => response.on('data', (text) => {
         console.log(response.statusCode, String(text));
         process.exit();
       }));
     });`,
  );
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'edgeproof/authority.pem') };
  const options = { cwd: folder, env, timeout: 60_000 };
  return (await promisify(execFile)(NODE, ['agent.mjs'], options)).stdout;
}
