import { writeFile } from 'node:fs/promises';
import { FileError } from '../project_files/load_config.ts';
import { errorText } from '../diagnostics/message_text.ts';

/** Writes a file; throws FileError when it cannot be written. */
export async function written(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new FileError(`cannot write ${path}: ${errorText(error)}`);
  }
}
