import type { Exempt } from '../filters/fact_values.ts';
import type { Diagram, Truth } from './diagram.ts';
import { machineOfPattern, patternDfa } from './fields.ts';
import type { Model } from './model.ts';
import type { Effect, Way } from './outcome.ts';
import { after, changesOfField } from './setting.ts';
import { dfaOf, keptDfa } from './texts/dfa.ts';
import { withAbsent } from './texts/machine.ts';

/** Fields of a CORS preflight. */
const PREFLIGHT_FIELDS = ['header origin', 'header access-control-request-method'];

/**
 * The requests that a filter exempts from what it asks of others, such as a login its preflights. The filter reads them
 * as earlier actions left them.
 */
export function exempted(
  model: Model,
  which: Exempt | null,
  { changed }: Pick<Way, 'changed'>,
): Diagram<Truth> {
  const { diagrams, atoms } = model.analysis;
  if (which === null) return diagrams.false;
  if (which === 'plain') return withoutTls(model);
  const options = atoms.text('method', patternDfa(String.raw`\AOPTIONS\z`)!, 'the method is OPTIONS');
  if (which === 'options') return diagrams.atom(options);
  return PREFLIGHT_FIELDS.reduce((all, name) => {
    const present = keptDfa('any value, not absent', () => dfaOf(withAbsent(machineOfPattern('')!, false)))!;
    const field = after(name, changesOfField(name, changed));
    const message = `the request has the field '${name.slice('header '.length)}'`;
    return diagrams.and(all, diagrams.atom(atoms.text(field, present, message)));
  }, diagrams.atom(options));
}

/** Requests that come without TLS. */
export function withoutTls({ analysis: { atoms, diagrams } }: Model): Diagram<Truth> {
  return diagrams.atom(
    atoms.text('scheme', patternDfa(String.raw`\Ahttp\z`)!, 'the request comes without TLS'),
  );
}

/** The effect of a filter on the requests that it exempts. */
export function onExempted(effect: Effect): Effect {
  return { ...effect, key: `${effect.key} exempted`, passage: 'exempted' };
}
