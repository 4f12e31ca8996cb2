import { accessSync, constants, readFileSync, statSync, writeFileSync } from 'node:fs';
import { digest } from '../../crypto/digest.ts';
import { extname } from 'node:path';
import { failureText } from '../../diagnostics/system_failure.ts';
import { SCRIPTS, isScript } from '../../project_files/load_config.ts';
import type { FileText } from '../wire_editing.ts';
import type { ConfigurationFiles } from './context.ts';
import { RequestError, textIn } from './handler.ts';

/** A larger file is not shown. */
const FILE_BYTES = 4_194_304;

/** Forms of configuration. Other files that it names, such as keys and certificates, are not for pages. */
const FORMS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json', ...SCRIPTS]);

const namesOf = ({ names }: ConfigurationFiles): string[] =>
  names().filter((name, index) => index === 0 || FORMS.has(extname(name)));

/** The texts of the configuration's files as they are on disk; those that cannot be read are left out. */
export function fileTexts(files: ConfigurationFiles): FileText[] {
  return namesOf(files).flatMap((name, index) => fileText(name, index === 0) ?? []);
}

function fileText(name: string, isFirst: boolean): FileText | null {
  try {
    if (statSync(name).size > FILE_BYTES) return null;
    const bytes = readFileSync(name);
    return {
      name,
      kind: kindOf(name, bytes.toString(), isFirst),
      text: bytes.toString(),
      hash: hashOf(bytes),
      writable: isWritable(name),
    };
  } catch {
    return null;
  }
}

/** The edge file or policy comes first; an included part has the keys of its kind. */
function kindOf(name: string, text: string, isFirst: boolean): FileText['kind'] {
  if (isScript(name)) return isFirst ? 'edge' : 'other';
  if (/^\s*["']?on_(?:http|tcp)_\w+["']?\s*:/m.test(text) && !/^edges\s*:/m.test(text)) return 'policy';
  if (isFirst || /^(?:edges|backends|include)\s*:/m.test(text)) return 'edge';
  return /^facts\s*:/m.test(text) ? 'facts' : 'other';
}

function isWritable(name: string): boolean {
  try {
    accessSync(name, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function hashOf(bytes: Uint8Array): string {
  return digest('sha256', [bytes], 'hex');
}

/** Writes a file of the configuration if it is what the page has seen. */
export function writeFile(body: unknown, files: ConfigurationFiles): FileText {
  const name = textIn(body, 'name');
  const text = textIn(body, 'text');
  const expected = textIn(body, 'expected');
  const at = namesOf(files).indexOf(name);
  if (at < 0) throw new RequestError(404, 'not_found', `${name} is not a file of this configuration`);
  const now = fileText(name, at === 0);
  if (now?.hash !== expected)
    throw new RequestError(409, 'conflict', `${name} has changed since the page read it; read it again`);
  try {
    // In place: a new file would lose its owner, its mode and its links.
    writeFileSync(name, text);
  } catch (error) {
    throw new RequestError(500, 'unavailable', `${name} cannot be written: ${failureText(error)}`);
  }
  return fileText(name, at === 0)!;
}
