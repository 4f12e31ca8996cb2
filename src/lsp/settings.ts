import type { CheckSettings } from './messages.ts';

/** What users can set, below `edgeproof` in the settings of their editor. */
export interface Settings extends CheckSettings {
  /** How long a text has to be unchanged before it is checked, ms. */
  readonly delayMs: number;
  readonly codeLens: boolean;
  /** A log of requests, whose last one gives the values that are shown; relative to the folder of the project. */
  readonly recording: string | null;
}

export const DEFAULTS: Settings = {
  strict: false,
  exact: true,
  serviceName: null,
  delayMs: 150,
  codeLens: true,
  recording: null,
};
const LONGEST_DELAY_MS = 60_000;

/** Settings as an editor sends them; values of another type are as if they were not set. */
export function settingsOf(given: unknown): Settings {
  const all = isMap(given) ? given : {};
  const own = isMap(all['edgeproof']) ? all['edgeproof'] : all;
  const { strict, exact, serviceName, delay, codeLens, recording } = own;
  return {
    strict: typeof strict === 'boolean' ? strict : DEFAULTS.strict,
    exact: typeof exact === 'boolean' ? exact : DEFAULTS.exact,
    serviceName: typeof serviceName === 'string' && serviceName !== '' ? serviceName : DEFAULTS.serviceName,
    delayMs: typeof delay === 'number' && delay >= 0 && delay <= LONGEST_DELAY_MS ? delay : DEFAULTS.delayMs,
    codeLens: typeof codeLens === 'boolean' ? codeLens : DEFAULTS.codeLens,
    recording: typeof recording === 'string' && recording !== '' ? recording : DEFAULTS.recording,
  };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
