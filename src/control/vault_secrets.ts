import { type SecretProvider, type SecretSource, secretProvider } from '../edge/secrets.ts';
import type { EdgeDocument } from './resources/edge_document.ts';

type Texts = EdgeDocument['secrets'];

/** Secrets of the store's vaults for policies; replaced together with the configuration. */
export interface CurrentSecrets extends SecretProvider {
  readonly current: () => Texts;
  readonly replace: (next: Texts) => void;
}

/** Starts with the secrets of a document; `others` is the fallback. */
export function currentSecrets({ secrets }: EdgeDocument, others: SecretSource = {}): CurrentSecrets {
  let texts = secrets;
  const beside = secretProvider(others);
  return {
    get: (vault, name) => texts[vault]?.[name] ?? beside.get(vault, name),
    current: () => texts,
    replace: (next) => {
      texts = next;
    },
  };
}
