import { hasErrors } from '../diagnostics/diagnostic.ts';
import { errorText, listed } from '../diagnostics/message_text.ts';
import { type EdgeOfFile, type UsableConfig, usable } from '../edgeproof.ts';
import type { Checked } from '../edge/document/check.ts';
import { inMilliseconds } from './request_line.ts';
import { type Voice, printFindings } from './voice.ts';
import { reportsReloads } from './workers.ts';
import { type LastReading, watchFile } from './watch.ts';

/** An edge whose configuration can be replaced. */
interface Reloaded {
  readonly edge: EdgeOfFile;
  readonly replace: (next: UsableConfig) => Promise<void>;
}

/** Where its configuration is read. */
interface Source {
  readonly file: string | null;
  readonly load: () => Promise<Checked>;
  readonly replaced?: () => readonly string[];
}

/** Reloads an edge when its files change, and says when one of them is deleted. */
export function watchSource(
  live: Reloaded,
  source: Source & { readonly lastReading: () => LastReading },
  voice: Voice,
  { poll = false }: { readonly poll?: boolean },
): { readonly close: () => void } {
  const changed = async (names: readonly string[]): Promise<void> =>
    reload(live, source, voice, `${listed(names)} changed`);
  const { say } = reporting(voice);
  const deleted = (name: string): void =>
    say(`${name} was deleted: still serving revision ${live.edge.runtime.revision()}`);
  return watchFile(source.file!, { changed, deleted }, poll, source.lastReading);
}

/** Swaps the whole configuration, and says why; a file with errors changes nothing. */
export async function reload(
  { edge, replace }: Reloaded,
  source: Source,
  voice: Voice,
  why: string,
): Promise<void> {
  const reported = reporting(voice);
  const { say } = reported;
  const still = () => `still serving revision ${edge.runtime.revision()}`;
  try {
    const former = new Set(source.replaced?.());
    const next = await source.load();
    printFindings(next.diagnostics, reported);
    if (hasErrors(next.diagnostics)) {
      say(`${source.file} has errors: ${still()}`);
      return;
    }
    const began = performance.now();
    await replace(usable(next));
    const took = inMilliseconds(performance.now() - began);
    say(`${why}: revision ${edge.runtime.revision()} is live in ${took}`);
    for (const line of source.replaced?.() ?? []) if (!former.has(line)) say(`  ${line}`);
  } catch (error) {
    // Not a mistake in the file: another worker may have succeeded.
    voice.say(`${errorText(error)}: ${still()}`);
  }
}

/** Workers read the same file: what they all find is printed once. */
function reporting(voice: Voice): Voice {
  return { ...voice, say: (text) => void (reportsReloads() && voice.say(text)) };
}
