import { didYouMean } from './message_text.ts';
import type { More, WantedFix } from './report.ts';

/** The hint that asks whether a word was meant, and the fix that writes it. */
export function meantWord(word: string | undefined): Pick<More, 'hint' | 'fix'> {
  return { hint: didYouMean(word), fix: meantFix(word) };
}

/** The fix that writes a word. `safe` means that nothing else can be meant. */
export function meantFix(word: string | undefined, safe = false): WantedFix | undefined {
  return word === undefined ? undefined : { message: `write ${word}`, text: word, safe };
}

/** The fix that removes what is marked; `safe` means that it has no effect. */
export function removal(safe: boolean): WantedFix {
  return { message: 'remove it', safe, removes: true };
}
