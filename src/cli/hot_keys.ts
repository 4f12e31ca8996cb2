import { type Explanation, renderExplanation } from '../edge/explain.ts';
import { stdout } from './output.ts';

/** What a key of a serving verb does. */
interface HotKey {
  readonly key: string;
  readonly does: string;
  readonly run: () => void;
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** What the keys act on. */
interface Served {
  readonly url: string;
  /** Null where no file is served. */
  readonly reload: (() => void) | null;
  /** The last request, explained; null before the first. */
  readonly last: () => Explanation | null;
  readonly color: boolean;
  readonly say: (text: string) => void;
}

/** As Ctrl-C does where the terminal sends signals. */
function stop(): void {
  process.emit('SIGINT', 'SIGINT');
}

const CLEAR = '\u001b[2J\u001b[3J\u001b[H';

/** Keys of the terminal in which a verb serves: says what they are, and listens. Null without a terminal. */
export function hotKeys({ url, reload, last, color, say }: Served): { readonly close: () => void } | null {
  const { stdin } = process;
  if (!stdin.isTTY || !stdout.isTTY) return null;
  const explainLast = (): void => {
    const explanation = last();
    say(
      explanation === null ? 'no request has come yet' : `\n${renderExplanation(explanation, { color })}\n`,
    );
  };
  const keys: readonly HotKey[] = [
    { key: 'o', does: 'open in the browser', run: () => openInBrowser(url, say) },
    ...(reload === null ? [] : [{ key: 'r', does: 'reload', run: reload }]),
    { key: 'e', does: 'explain the last request', run: explainLast },
    { key: 'c', does: 'clear', run: () => stdout.write(CLEAR) },
    { key: 'q', does: 'quit', run: stop },
  ];
  say(`  keys: ${keys.map(({ key, does }) => `${key} ${does}`).join('  ')}\n`);
  return listenForKeys(stdin, keys);
}

/**
 * Runs what is bound to the keys that are pressed, until it is closed. A terminal in raw mode sends no signals, so
 * Ctrl-C and Ctrl-D are `stop`.
 */
function listenForKeys(terminal: NodeJS.ReadStream, keys: readonly HotKey[]): { readonly close: () => void } {
  const pressed = (chunk: Buffer | string): void => {
    for (const key of chunk.toString()) {
      if (key === CTRL_C || key === CTRL_D) stop();
      else keys.find((each) => each.key === key.toLowerCase())?.run();
    }
  };
  terminal.setRawMode(true);
  terminal.on('data', pressed);
  terminal.resume();
  return {
    close: () => {
      terminal.off('data', pressed);
      terminal.setRawMode(false);
      terminal.pause();
    },
  };
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens an address in the browser; `failed` is called when no program can. */
function openInBrowser(url: string, failed: (text: string) => void): void {
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? [];
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.once('error', () => failed(`cannot start ${program}; open ${url} yourself`));
  child.unref();
}
