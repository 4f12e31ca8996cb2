import { expect, test } from 'vitest';
import { Atoms } from '../../src/analysis/atoms.ts';
import { domainOf, patternDfa, quoted } from '../../src/analysis/fields.ts';
import { Diagrams } from '../../src/analysis/diagram.ts';
import { Relations } from '../../src/analysis/relations.ts';
import { shortestText } from '../../src/analysis/texts/intersect.ts';
import { runs, seeded } from '../random.ts';

const FIELDS = ['path', 'host', 'method', 'header x', 'query x'] as const;

function randomPattern(random: () => number): string {
  const text = quoted(Array.from({ length: 3 }, () => '/ab'[Math.floor(random() * 3)]).join(''));
  return [`\\A${text}`, `\\A${text}\\z`, text, `${text}\\z`, '\\A(?:GET|a|/a)', '[^a]b'][
    Math.floor(random() * 6)
  ]!;
}

test('what atoms imply is what a search for texts with each pair of values finds', () => {
  const answers = { true: 0, false: 0, null: 0 };
  for (let seed = 0; seed < runs(1_000, 60); seed++) {
    const random = seeded(seed);
    const [relations, atoms] = [new Relations(), new Atoms()];
    const field = FIELDS[Math.floor(random() * FIELDS.length)]!;
    const made = Array.from({ length: 3 }, () => {
      const dfa = patternDfa(randomPattern(random))!;
      return { dfa, atom: atoms.text(field, dfa, '') };
    });
    for (const one of made)
      for (const other of made)
        for (const value of [true, false]) {
          const meets = (wanted: boolean): boolean =>
            shortestText([
              domainOf(field),
              { dfa: one.dfa, accepted: value },
              { dfa: other.dfa, accepted: wanted },
            ]) !== 'none';
          const plain = !meets(true) ? false : meets(false) ? null : true;
          expect(relations.implied(one.atom, value, other.atom)).toBe(plain);
          answers[`${plain}`]++;
        }
  }
  for (const count of Object.values(answers)) expect(count).toBeGreaterThan(30);
});

test('what is asked of one path is asked of no path before it', () => {
  const [atoms, diagrams] = [new Atoms(), new Diagrams()];
  const paths = Array.from({ length: 20 }, (_, at) =>
    diagrams.atom(atoms.text('path', patternDfa(`^/p${at}/`)!, '')),
  );
  const others = paths.reduce((sum, path) => diagrams.and(sum, diagrams.not(path)), diagrams.true);
  const last = diagrams.atom(atoms.text('path', patternDfa('^/p20/')!, ''));
  expect(diagrams.and(last, others)).toBe(last);
  const within = diagrams.atom(atoms.text('path', patternDfa('^/p3/x')!, ''));
  expect(diagrams.and(within, others)).toBe(diagrams.false);
  const either = diagrams.atom(atoms.text('path', patternDfa('/p3/')!, ''));
  expect(diagrams.and(either, others)).not.toBe(either);
});
