import * as fc from 'fast-check';
import { afterEach } from 'vitest';
import { SEED, SIZE, sized } from './random.ts';

// Properties that name no number of runs of their own.
fc.configureGlobal(sized(500));

// Every run has the same random inputs unless it asks for others, so these two repeat a failure.
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  process.stderr.write(
    `${task.file.name}: repeat with EDGEPROOF_TEST_SIZE=${SIZE} EDGEPROOF_TEST_SEED=${SEED}\n`,
  );
});
