import type { CheckClient } from './check_client.ts';
import type { WirePoint } from './messages.ts';
import type { TextFacts } from './open_file.ts';
import type { Project } from './project.ts';
import type { Settings } from './settings.ts';

interface Counted {
  readonly of: readonly TextFacts[];
  readonly settings: Settings;
  readonly points: Promise<readonly WirePoint[]>;
}

interface Host {
  readonly project: Project;
  readonly runs: CheckClient;
  readonly settings: () => Settings;
}

/** How often the cases of a project reach the rules and routes of its files: counted again when one of them has changed. */
export class CoverageCounts {
  readonly #host: Host;
  readonly #counted = new Map<string, Counted>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** The scenario files that belong together with a text, whose cases may reach it. */
  scenariosOf(facts: TextFacts): readonly string[] {
    const all = this.#host.project.connected(facts);
    return all.filter((each) => each.isScenarioWithCases).map(({ name }) => name);
  }

  /** Rejects if the cases cannot be run. */
  pointsOf(facts: TextFacts): Promise<readonly WirePoint[]> {
    const { project, runs, settings } = this.#host;
    const of = project.connected(facts);
    const using = settings();
    const known = this.#counted.get(facts.name);
    if (known !== undefined && known.settings === using && isSame(known.of, of)) return known.points;
    const points = runs.ask('coverage', facts.name, using, { scenarios: this.scenariosOf(facts) });
    this.#counted.set(facts.name, { of, settings: using, points });
    return points;
  }

  closed(name: string): void {
    this.#counted.delete(name);
  }
}

/** Every version of a text has its own facts. */
function isSame(one: readonly TextFacts[], other: readonly TextFacts[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index]);
}
