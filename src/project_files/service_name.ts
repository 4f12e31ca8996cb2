import { joinedDocument } from '../config_file/document.ts';
import type { Assemble } from '../edge/document/check.ts';
import { isPlain } from '../edge/document/written_policies.ts';

/** Assembles an edge that has this service name, whatever its file says; undefined leaves it. */
export function namedService(assemble: Assemble, name: string | undefined): Assemble {
  if (name === undefined) return assemble;
  return (written) => {
    const assembled = assemble(written);
    const { document } = assembled;
    if (!isPlain(document.value)) return assembled;
    const value = { ...document.value, service_name: name };
    return { ...assembled, document: joinedDocument(document, value, new Map()) };
  };
}
