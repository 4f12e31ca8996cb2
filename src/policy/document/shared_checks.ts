import { type CheckedPolicy, checkPolicyText, policyCheck } from './check.ts';
import { movedDocument } from './checked_policies.ts';
import { LARGE_POLICY } from '../facts.ts';
import { plainJson } from '../../config_file/plain_json.ts';
import type { PolicySetting } from './setting.ts';
import { type Steps, atOnce } from '../../config_file/steps.ts';

/** The document of a large policy takes much memory. */
const KEPT = 2;

type Attached = Parameters<typeof checkPolicyText>[0];

interface Known {
  readonly text: string;
  /** Pointer of the text when it was checked. */
  readonly at: string;
  /** What the check has read of the setting. */
  readonly read: ReadonlyMap<keyof PolicySetting, string | undefined>;
  readonly checked: CheckedPolicy;
}

/** Checks of policies, of which large ones are shared. */
export interface SharedChecks {
  /**
   * `checkPolicyText` that checks the same large text once for all places, if the parts of the setting that matter to it
   * are equal. Policies with findings are checked each time.
   */
  readonly check: typeof checkPolicyText;
  /** The value of a text as plain JSON, which is read once; null for others. */
  readonly valueOf: (text: string) => object | null;
  /** Checks a large policy with pauses, so that `check` finds the result. */
  readonly ahead: (attached: Attached, setting: PolicySetting) => Steps<void>;
  /** Forgets what was read and checked ahead. */
  readonly forget: () => void;
}

export function sharedChecks(): SharedChecks {
  let known: readonly Known[] = [];
  /** What was checked ahead, also with findings, whose pointers are those of one place. */
  let ready: readonly Known[] = [];
  let values = new Map<string, object | null>();
  const valueOf = (text: string): object | null => {
    let value = values.get(text);
    if (value === undefined) values.set(text, (value = plainJson(text)));
    return value;
  };
  const find = ({ text, pointer }: Attached, setting: PolicySetting): Known | undefined => {
    const fits = (each: Known): boolean => each.text === text && isSameSetting(each, setting);
    return ready.find((each) => (each.at === pointer || isPlaceless(each)) && fits(each)) ?? known.find(fits);
  };
  const keep = (each: Known): void => {
    if (isPlaceless(each)) known = [each, ...known.filter((other) => other !== each)].slice(0, KEPT);
  };
  return {
    check: (attached, setting) => {
      const { text, pointer } = attached;
      if (text.length < LARGE_POLICY) return checkPolicyText(attached, setting);
      const before = find(attached, setting);
      if (before !== undefined) {
        keep(before);
        return checkedAt(before, pointer);
      }
      const read = new Map<keyof PolicySetting, string | undefined>();
      const checked = checkPolicyText(attached, noting(setting, read));
      keep({ text, at: pointer, read, checked });
      return checked;
    },
    ahead: function* (attached, setting) {
      const { text, pointer } = attached;
      if (text.length < LARGE_POLICY || find(attached, setting) !== undefined) return;
      const read = new Map<keyof PolicySetting, string | undefined>();
      const checked = yield* policyCheck(attached, noting(setting, read), valueOf(text));
      ready = [...ready, { text, at: pointer, read, checked }];
    },
    valueOf,
    forget: () => {
      ready = [];
      values = new Map();
    },
  };
}

/** Whether the result is that of every place of the text, apart from its pointers. */
function isPlaceless({ checked }: Known): boolean {
  return checked.diagnostics.length === 0;
}

function checkedAt({ at, checked }: Known, pointer: string): CheckedPolicy {
  const { document, diagnostics } = checked;
  if (document === null || at === pointer) return checked;
  return { document: atOnce(movedDocument(document, at, pointer)), diagnostics };
}

function isSameSetting({ read }: Known, setting: PolicySetting): boolean {
  return Array.from(read).every(([key, value]) => JSON.stringify(setting[key]) === value);
}

/** The setting; what is read of it is noted, also if it is absent. */
function noting(setting: PolicySetting, read: Map<keyof PolicySetting, string | undefined>): PolicySetting {
  return new Proxy(setting, {
    get: (target, name) => {
      const key = name as keyof PolicySetting;
      if (!read.has(key)) read.set(key, JSON.stringify(target[key]));
      return target[key];
    },
  });
}
