/** Which places of the configuration were reached, by the kept traffic or by a scenario file; shown over the editor. */
import { useState } from 'preact/hooks';
import { countText } from '../../pages/units.ts';
import type { CoverageAnswer, CoverageRequest } from '../wire_editing.ts';
import { coverage } from './draft_view.tsx';
import { places } from './places.ts';
import { send } from './server.ts';
import { attempt, view } from './state.ts';

/** Classes of lines by file; a line with anything missed is shown as missed. */
function lineClasses(points: CoverageAnswer['points']): Map<string, Map<number, string>> {
  const files = new Map<string, Map<number, string>>();
  for (const { place, state } of points) {
    if (place === null || state === 'impossible') continue;
    const lines = files.get(place.file) ?? new Map<number, string>();
    files.set(place.file, lines);
    if (lines.get(place.line) !== 'covered-missed') lines.set(place.line, `covered-${state}`);
  }
  return files;
}

export function CoverageView() {
  const [answer, setAnswer] = useState<CoverageAnswer | null>(null);
  const run = async (scenario: string): Promise<void> => {
    const request: CoverageRequest = scenario === '' ? {} : { scenario };
    const found = await attempt(() => send<CoverageAnswer>('POST', 'coverage', request));
    setAnswer(found);
    if (found !== null) coverage.value = lineClasses(found.points);
  };
  const missed = answer?.points.filter(({ state }) => state === 'missed') ?? [];
  return (
    <section class="card">
      <h2>Coverage</h2>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          const { value } = event.currentTarget.elements.namedItem('scenario') as HTMLInputElement;
          void run(value.trim());
        }}
      >
        <label class="grows">
          Scenario file{' '}
          <input name="scenario" placeholder="none: the kept traffic" autocomplete="off" spellcheck={false} />
        </label>
        <button type="submit">Run</button>
      </form>
      {answer !== null && (
        <>
          <p role="status">
            {answer.name}: <strong>{Math.floor(answer.percent)} %</strong> reached, {countText(missed.length)}{' '}
            missed.{' '}
            <button type="button" class="place" onClick={() => void (view.value = 'draft')}>
              Show it in the editor
            </button>
          </p>
          {answer.diagnostics.map(({ message }, index) => (
            <p key={index} class="failure">
              {message}
            </p>
          ))}
          <ul class="missed">
            {missed.slice(0, 50).map(({ message, place, pointer }, index) => (
              <li key={index}>
                {message}{' '}
                {place === null ? (
                  <code>{pointer}</code>
                ) : (
                  <button type="button" class="place" onClick={() => places.show(place)}>
                    {place.file}:{place.line}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
