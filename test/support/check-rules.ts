import { defaultFileLimits, hasGzipName } from '@inlet/row-rule/file-rule';
import { marketplaceShapes } from '@inlet/row-rule/row-rule';
import type { CheckRules } from '../../packages/cli/src/check/check-file.ts';
import { keysByForm } from '../../packages/cli/src/check/known-keys.ts';

/** Validates import files locally, as `inlet check` does, without calling the service. */
export const marketplaceRules: CheckRules = {
  isAudience: false,
  shapes: marketplaceShapes,
  limits: defaultFileLimits,
  badRowShare: 1,
  keys: keysByForm(1),
  unhyphenatedIds: false,
  expectGzip: hasGzipName,
  shownRows: 2,
};
