import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PYTHON, hasProgram } from '../peers.ts';
import { edgeproof } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeproof-completion-'));
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
const at = (shell: string): string => join(folder, `completion.${shell}`);

beforeAll(async () => {
  const scripts = await Promise.all(SHELLS.map((shell) => edgeproof(['completion', shell], folder)));
  for (const [index, shell] of SHELLS.entries()) {
    expect(scripts[index]).toMatchObject({ code: 0, stderr: '' });
    writeFileSync(at(shell), scripts[index]!.stdout);
  }
  writeFileSync(join(folder, 'indexed.yaml'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What is typed, and what is offered for it; for a shell that offers by prefix or shows all. */
const OFFERED: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['edgeproof che', ['check']],
  ['edgeproof check --as h', ['https_edge']],
  ['edgeproof keys ', ['create', 'list', 'revoke']],
  ['edgeproof keys list --s', ['--store']],
  ['edgeproof check --json --ex', ['--exact']],
  ['edgeproof completion f', ['fish']],
];
/** Lines with one continuation, for shells that insert it. */
const INSERTED = OFFERED.filter(([, offered]) => offered.length === 1);

const inBash = (line: string): readonly string[] => {
  const words = line.split(' ').map((word) => `'${word}'`);
  const script = `source "${at('bash')}"; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_edgeproof; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines(execFileSync('bash', ['-c', script], { encoding: 'utf8', cwd: folder }));
};
const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

describe('bash', () => {
  it.each(OFFERED)('%s', (line, offered) => {
    expect(inBash(line).toSorted()).toEqual(offered);
  });

  it('leaves the rest to the completion of file names', () => {
    expect(inBash('edgeproof check ind')).toEqual([]);
    expect(inBash('edgeproof explain --edge ind')).toEqual([]);
  });
});

const hasFish = hasProgram('fish', ['--version'], 'completion in fish');
describe.skipIf(!hasFish)('fish', () => {
  const inFish = (line: string): readonly string[] => {
    const script = `source ${at('fish')}; complete -C ${JSON.stringify(line)}`;
    const out = execFileSync('fish', ['--no-config', '-c', script], { encoding: 'utf8', cwd: folder });
    return lines(out).map((each) => each.split('\t')[0]!);
  };
  it.each(OFFERED)('%s', (line, offered) => {
    expect(inFish(line).toSorted()).toEqual(offered);
  });

  it('offers files to commands that take them', () => {
    expect(inFish('edgeproof check ind')).toEqual(['indexed.yaml']);
    expect(inFish('edgeproof explain --edge ind')).toEqual(['indexed.yaml']);
  });
});

/** Types lines and tabs into a terminal; prints, for each line, the arguments that the command then gets. */
const TYPIST = `
import os, pty, re, sys
script, lines = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.environ['TERM'] = 'dumb'
    os.execvp('zsh', ['zsh', '-f', '-i'])
def until(pattern):
    got = ''
    while not (found := re.search(pattern, got)):
        got += os.read(terminal, 65536).decode(errors='replace')
    return found
setting = "PS1='> '; unsetopt beep; autoload -U compinit; compinit -u -D; source " + script
os.write(terminal, (setting + "; edgeproof() { print -r -- GO''T:$*: }; print READ''Y\\n").encode())
until('READY')
for line in lines:
    os.write(terminal, (line + '\\t\\n').encode())
    print(until('GOT:(.*?):').group(1).strip())
`;
const hasZsh =
  hasProgram('zsh', ['--version'], 'completion in zsh') &&
  hasProgram(PYTHON, ['--version'], 'completion in zsh, whose terminal Python makes');
describe.skipIf(!hasZsh)('zsh', () => {
  it('inserts what is the only continuation, and files', () => {
    const asked = [...INSERTED.map(([line]) => line), 'edgeproof check ind'];
    const out = execFileSync(PYTHON, ['-c', TYPIST, at('zsh'), ...asked], {
      encoding: 'utf8',
      cwd: folder,
      timeout: 50_000,
    });
    const inserted = INSERTED.map(([line, [word]]) =>
      `${line.split(' ').slice(1, -1).join(' ')} ${word}`.trim(),
    );
    expect(lines(out)).toEqual([...inserted, 'check indexed.yaml']);
  });
});

it('PowerShell: the script names every command and option', async () => {
  const { stdout: script } = await edgeproof(['completion', 'powershell'], folder);
  expect(script).toContain("'edgeproof keys list' = @{");
  expect(script).toContain("'--as' = @('https_edge'");
});

it('another shell is refused with those that there are', async () => {
  const { code, stderr } = await edgeproof(['completion', 'tcsh'], folder);
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish, powershell');
});
