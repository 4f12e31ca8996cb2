import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ClientOptions, addClientOptions, callApi, withApiErrors } from './api_client.ts';
import { EXIT } from './exit_codes.ts';

export function register(program: Command): void {
  const command = program
    .command('export')
    .description('Write the configuration of a running instance as an edge file (in JSON)')
    .option('--private-keys', 'also write the private keys of certificates')
    .option('-o, --output <file>', 'output file; default: standard output');
  addClientOptions(command).action(
    async (options: ClientOptions & { output?: string; privateKeys?: boolean }) => {
      process.exitCode = await withApiErrors(async () => {
        const query = options.privateKeys === true ? '?private_keys=true' : '';
        const { document, left_out: leftOut } = (await callApi(options, 'GET', `/edge_file${query}`)) as {
          readonly document: object;
          readonly left_out: readonly string[];
        };
        const text = `${JSON.stringify(document, null, 2)}\n`;
        if (options.output === undefined) process.stdout.write(text);
        else writeFileSync(options.output, text, { mode: options.privateKeys === true ? 0o600 : 0o666 });
        for (const each of leftOut) process.stderr.write(`left out: ${each}\n`);
        return EXIT.ok;
      });
    },
  );
}
