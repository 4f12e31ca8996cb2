import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ClientOptions, addClientOptions, callApi, tellingErrors } from './api_client.ts';
import { EXIT } from './exit_codes.ts';

export function register(program: Command): void {
  const command = program
    .command('export')
    .description('Write the configuration of a running instance as an edge file (JSON, which is YAML)')
    .option('-o, --output <file>', 'file to write; standard output when left out');
  addClientOptions(command).action(async (options: ClientOptions & { output?: string }) => {
    process.exitCode = await tellingErrors(async () => {
      const { document, left_out: leftOut } = (await callApi(options, 'GET', '/edge_file')) as {
        readonly document: object;
        readonly left_out: readonly string[];
      };
      const text = `${JSON.stringify(document, null, 2)}\n`;
      if (options.output === undefined) process.stdout.write(text);
      else writeFileSync(options.output, text);
      for (const each of leftOut) process.stderr.write(`left out: ${each}\n`);
      return EXIT.ok;
    });
  });
}
