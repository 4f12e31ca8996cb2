import { type Command, InvalidArgumentError } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { explanationOf, renderExplanation } from '../edge/explain.ts';
import { edgeOf, usable } from '../edgeproof.ts';
import { parseAddress } from '../net/address.ts';
import { addressBooksOf } from './address_books.ts';
import { environmentSecrets } from './environment_secrets.ts';
import { EXIT } from './exit_codes.ts';
import { FileError, loadConfig } from './load_config.ts';
import { wantsColor } from './terminal.ts';

interface Options {
  readonly edge: string;
  readonly header: readonly string[];
  readonly ip?: string;
  readonly upstreamStatus: number;
  readonly json?: boolean;
  readonly event?: boolean;
}

export function register(program: Command): void {
  program
    .command('explain')
    .description(
      'Explain what an edge does with one request: every step, its reason and its place in the file',
    )
    .argument('<method>', 'request method')
    .argument('<url>', 'full URL, such as https://shop.test/admin')
    .option('-e, --edge <file>', 'edge file', 'edge.yaml')
    .option('-H, --header <header>', "request header 'name: value'; may be repeated", addHeader, [])
    .option('--ip <address>', 'address of the client', readIp)
    .option('--upstream-status <status>', 'status that the upstream would answer', readStatus, 200)
    .option('--event', 'print the event too')
    .option('--json', 'print JSON')
    .action(async (method: string, url: string, options: Options) => {
      process.exitCode = await explain(method, url, options);
    });
}

async function explain(method: string, url: string, options: Options): Promise<number> {
  try {
    const checked = await loadConfig(options.edge);
    if (hasErrors(checked.diagnostics)) {
      process.stderr.write(renderDiagnostics(checked.diagnostics, { color: wantsColor(process.stderr) }));
      return EXIT.configInvalid;
    }
    const usableConfig = usable(checked);
    const edge = edgeOf(usableConfig, {
      addressBooks: await addressBooksOf(usableConfig.config, options.edge),
      secrets: environmentSecrets(process.env),
    });
    const headers = options.header.map((line) => splitHeader(line));
    const facts = options.ip === undefined ? {} : { clientIp: options.ip };
    const upstream = { head: { status: options.upstreamStatus, headers: [] }, reused: false };
    const { exchange, event } = edge.decide({ method, url, headers }, facts, upstream);
    const explanation = explanationOf(exchange, checked.locate);
    const shown = options.event === true ? { ...explanation, event } : explanation;
    if (options.json === true) process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    else process.stdout.write(`${renderExplanation(explanation)}\n`);
    if (options.json !== true && options.event === true)
      process.stdout.write(`${JSON.stringify(event, null, 2)}\n`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof FileError || error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
}

function addHeader(line: string, before: readonly string[]): readonly string[] {
  if (!/^[^\s:]+:/.test(line)) throw new InvalidArgumentError("a header is written 'name: value'.");
  return [...before, line];
}

function splitHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

function readIp(text: string): string {
  if (parseAddress(text) === null) throw new InvalidArgumentError('it is not an IP address.');
  return text;
}

function readStatus(text: string): number {
  if (!/^[2-5]\d\d$/.test(text)) throw new InvalidArgumentError('a status is a number from 200 to 599.');
  return Number(text);
}
