import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { edgeproof } from '../cli/command.ts';

/** A step of a page that is followed: a file to write or change, or a command with its output. */
export type PageStep =
  | { readonly kind: 'write' | 'append' | 'prepend'; readonly file: string; readonly text: string }
  | { readonly kind: 'edit'; readonly file: string; readonly old: string; readonly text: string }
  | { readonly kind: 'replace'; readonly file: string; readonly key: string; readonly text: string }
  /** `code` is the exit code that the page says after the command; 0 if it says none. */
  | {
      readonly kind: 'command';
      readonly line: number;
      readonly command: string;
      readonly code: number;
      readonly output: string;
    };

const ADDRESSED: readonly (readonly [kind: 'write' | 'append' | 'prepend', pattern: RegExp])[] = [
  ['append', /Add to\s+the\s+end\s+of\s+`([^`]+)`:$/],
  ['prepend', /Add to\s+the\s+top\s+of\s+`([^`]+)`:$/],
  ['write', /Write\s+`([^`]+)`(?:,[^`:]+)?:$/],
];

/**
 * The steps of a page, in order: blocks of code after `Write `file`:` and similar sentences, and blocks of the language
 * `console`, whose lines that begin with `$ npx edgeproof` are commands. Throws for a block of a file that no sentence addresses.
 */
export function stepsOf(text: string): readonly PageStep[] {
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap((found): PageStep[] => {
    const [, language, block] = found as unknown as [string, string, string];
    const line = text.slice(0, found.index).split('\n').length;
    const before = text.slice(0, found.index).trimEnd();
    if (language === 'console') return editBefore(before).concat(commandsOf(block, line));
    if (language === 'sh') return [];
    const replaced = /Replace\s+`([^`]+)`\s+in\s+`([^`]+)`:$/.exec(before);
    if (replaced !== null) return [{ kind: 'replace', key: replaced[1]!, file: replaced[2]!, text: block }];
    for (const [kind, pattern] of ADDRESSED) {
      const file = pattern.exec(before)?.[1];
      if (file !== undefined) return [{ kind, file, text: block }];
    }
    if (language === 'text') return [];
    throw new Error(`line ${line}: the page does not say which file this block belongs to`);
  });
}

/** `In `file`, replace `a` with `b`.` at the end of a text. */
function editBefore(text: string): readonly PageStep[] {
  const found = /In\s+`([^`]+)`,\s+replace\s+`([^`]+)`\s+with\s+`([^`]+)`\.$/.exec(text);
  return found === null ? [] : [{ kind: 'edit', file: found[1]!, old: found[2]!, text: found[3]! }];
}

function commandsOf(block: string, line: number): PageStep[] {
  return block.split(/^(?=\$ )/m).map((part) => {
    const [first = '', ...output] = part.split('\n');
    const [, command, code = '0'] = /^\$ npx edgeproof (.*?)(?: +# exit code (\d+))?$/.exec(first) ?? [];
    if (command === undefined) throw new Error(`line ${line}: '${first}' is not a command of edgeproof`);
    return { kind: 'command', line, command, code: Number(code), output: output.join('\n').trimEnd() };
  });
}

/** Times of this run, as any time. */
function timeless(text: string): string {
  return text.replaceAll(/<?\d+(?:\.\d+)? ms\b/g, 'N ms').trimEnd();
}

/** Follows a step in a folder. A command resolves with its exit code, its output and the one of the page, both without times. */
export async function follow(
  step: PageStep,
  folder: string,
): Promise<{ readonly printed: string; readonly shown: string; readonly code: number } | null> {
  if (step.kind === 'command') {
    const words = [...step.command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      ([, one, two, bare]) => one ?? two ?? bare!,
    );
    const { stdout, code } = await edgeproof(words, folder);
    return { printed: timeless(stdout), shown: timeless(step.output), code };
  }
  const path = join(folder, step.file);
  writeFileSync(path, changed(step, step.kind === 'write' ? '' : readFileSync(path, 'utf8')));
  return null;
}

function changed(step: Exclude<PageStep, { kind: 'command' }>, text: string): string {
  switch (step.kind) {
    case 'append':
      return text + step.text;
    case 'prepend':
      return step.text + text;
    case 'edit':
    case 'replace': {
      const old =
        step.kind === 'edit' ? step.old : new RegExp(`^${step.key}:\\n(?:[ #].*\\n|\\n(?=[ #]))*`, 'm');
      const after = text.replace(old, () => step.text);
      if (after === text) throw new Error(`${step.file} has no ${String(old)}`);
      return after;
    }
    case 'write':
      return step.text;
  }
}

/** Whether an output is as a page shows it; `…` alone on a line is any number of lines. */
export function isAsShown(printed: string, shown: string): boolean {
  const escaped = shown.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll(/^ *…$\n?/gm, '(?:.*\\n)*')}$`).test(printed);
}
