import type { Command } from 'commander';
import { type ClientOptions, addClientOptions, callApi } from './api_client.ts';
import { writeText } from './write_file.ts';
import { stderr, stdout } from './output.ts';

export function register(command: Command): void {
  command
    .option('--private-keys', 'also write the private keys of certificates')
    .option('--secrets', 'also write client secrets and webhook secrets')
    .option('-o, --out <file>', 'output file; default: standard output');
  addClientOptions(command).action(
    async (options: ClientOptions & { out?: string; privateKeys?: boolean; secrets?: boolean }) => {
      const { privateKeys = false, secrets = false } = options;
      const isSecret = privateKeys || secrets;
      const query = `?private_keys=${privateKeys}&secrets=${secrets}`;
      const { document, left_out: leftOut } = (await callApi(options, 'GET', `/edge_file${query}`)) as {
        readonly document: object;
        readonly left_out: readonly string[];
      };
      const text = `${JSON.stringify(document, null, 2)}\n`;
      if (options.out === undefined) stdout.write(text);
      else writeText(options.out, text, { isSecret });
      for (const each of leftOut) stderr.write(`left out: ${each}\n`);
    },
  );
}
