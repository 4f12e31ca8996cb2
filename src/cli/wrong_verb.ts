import { existsSync } from 'node:fs';
import { suggest } from '../diagnostics/suggest.ts';
import { VERB_NAMES, type VerbName, isVerb } from './verbs.ts';
import { isDocumentName } from '../config_file/document.ts';

/** What other tools call what these verbs do. */
const CALLED_ELSEWHERE: Readonly<Record<string, VerbName | '--version'>> = {
  validate: 'check',
  lint: 'check',
  verify: 'check',
  run: 'dev',
  start: 'dev',
  up: 'dev',
  watch: 'dev',
  proxy: 'http',
  server: 'serve',
  format: 'fmt',
  coverage: 'cover',
  simulate: 'sim',
  benchmark: 'bench',
  why: 'explain',
  decide: 'explain',
  compare: 'diff',
  deploy: 'apply',
  push: 'apply',
  publish: 'apply',
  new: 'init',
  create: 'init',
  version: '--version',
};

/**
 * What a command line means that does not begin with a verb: another tool's word, or a file before its verb. Null
 * when the nearest verb is the better guess.
 */
export function meantBy([first = '', ...rest]: readonly string[]): string | null {
  const verbAt = rest.findIndex((word) => isVerb(word));
  if (first.startsWith('-') && verbAt >= 0)
    return `the command is before its options; write ${line([rest[verbAt]!, first, ...rest.toSpliced(verbAt, 1)])}`;
  const known = Object.hasOwn(CALLED_ELSEWHERE, first) ? CALLED_ELSEWHERE[first] : undefined;
  if (known !== undefined) return `'${first}' is not a command; write ${line([known, ...rest])}`;
  if (!isDocumentName(first) && !existsSync(first)) return null;
  const [verb, ...others] = rest;
  if (verb !== undefined && isVerb(verb))
    return `the command is before its files; write ${line([verb, first, ...others])}`;
  return `'${first}' is a file, and a command is missing before it; write ${line(['check', first])}, or 'dev' to serve it`;
}

/** What `help` says of a word that is not a verb. */
export function unknownVerb(word: string): string {
  const meant = Object.hasOwn(CALLED_ELSEWHERE, word) ? CALLED_ELSEWHERE[word] : suggest(word, VERB_NAMES);
  const cure = meant === undefined ? 'edgeproof --help lists them' : `did you mean '${meant}'?`;
  return `there is no command '${word}'; ${cure}`;
}

function line(words: readonly string[]): string {
  return `'${['edgeproof', ...words].join(' ')}'`;
}
