import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { complete } from '../cel/expression_completion.ts';
import { EXIT } from './exit_codes.ts';
import { printFindings, wantsColor } from './terminal.ts';
import { type InputOptions, addInputOptions, inputOrNull } from './expression_input.ts';
import { COMMAND_NAMES, answerTo } from './repl_session.ts';
import { stdout } from './output.ts';

/** `edgeproof repl`: evaluates expressions line by line, from a terminal or a pipe. */
export function register(command: Command): void {
  addInputOptions(command).action(async (options: InputOptions) => {
    process.exitCode = await repl(options);
  });
}

async function repl(options: InputOptions): Promise<number> {
  const read = await inputOrNull(options);
  if (read === null) return EXIT.usage;
  const { input, diagnostics } = read;
  printFindings(diagnostics);
  if (input === null) return EXIT.configInvalid;
  await readLines(input, wantsColor(stdout));
  return EXIT.ok;
}

type Input = Parameters<typeof answerTo>[1];

async function readLines(first: Input, color: boolean): Promise<void> {
  let input = first;
  const isTerminal = process.stdin.isTTY && stdout.isTTY;
  const lines = createInterface({
    input: process.stdin,
    terminal: isTerminal,
    historySize: 1_000,
    removeHistoryDuplicates: true,
    completer: (line: string): [string[], string] => {
      if (line.startsWith(':') && !line.includes(' ')) {
        return [COMMAND_NAMES.filter((name) => name.startsWith(line)), line];
      }
      const { candidates, word } = complete(line, input.scope);
      return [[...candidates], word];
    },
    ...(isTerminal && { output: stdout.stream(), prompt: '> ' }),
  });
  if (isTerminal) {
    stdout.write(`${input.phase}; :help lists commands, Tab completes\n`);
    lines.prompt();
    // Ctrl-C gives a line up, and ends at an empty one.
    lines.on('SIGINT', () => {
      if (lines.line === '') lines.close();
      // To the end of the line, and all before it is removed.
      else for (const name of ['e', 'u']) lines.write(null, { ctrl: true, name });
    });
  }
  for await (const line of lines) {
    const answer = answerTo(line, input, { color });
    if (answer.text !== '') stdout.write(`${answer.text}\n`);
    ({ input } = answer);
    if (answer.ends) {
      lines.close();
      return;
    }
    if (isTerminal) lines.prompt();
  }
  // Ctrl-C and Ctrl-D leave the cursor behind the prompt.
  if (isTerminal) stdout.write('\n');
}
