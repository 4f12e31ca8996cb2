import { testsAreSeeded } from './chance.ts';
import { deadFileRules } from './dead_files.ts';
import { filterImports } from './filter_imports.ts';
import { filterNames } from './filter_names.ts';
import { codeIsNotMadeFromText, liveRoomsUseTheInjectedClock, worldRules } from './globals.ts';
import { packagesStayAtHome } from './homes.ts';
import {
  importsAreLiteral,
  importsHaveNoCycles,
  roomsKeepToTheirImports,
  roomsAreThere,
  siblingsStayApart,
} from './imports.ts';
import { namesAreSnakeCase, nothingIsCalledUtils, testsMirrorRooms } from './names.ts';
import { namedPathsExist } from './paths.ts';
import { filesAreShort, functionsAreShort, nestingIsLow, tablesAreData } from './sizes.ts';
import { decisionsAreListed, pagesHaveOneTitle } from './titles.ts';
import type { Rule } from './tree.ts';
import { textsArePlain } from './words.ts';

const { noFileIsDead, waitingHasAnEnd } = deadFileRules();
const { pureRoomsUseNoWorld, exceptionsAreUsed } = worldRules();
const { filtersAreNamedAtHome, namesAreUsed } = filterNames();
const { filtersAreImportedAtHome, filterImportsAreUsed } = filterImports();

/** Every rule of the house, by the sentence that it holds. */
export const RULES = {
  'files parse': (tree) => [...tree.broken],
  'rooms import only what the table lists': roomsKeepToTheirImports,
  'siblings do not import each other': siblingsStayApart,
  'rooms of the table are there': roomsAreThere,
  'imports are written out': importsAreLiteral,
  'imports have no cycles': importsHaveNoCycles,
  'packages are imported in their home only': packagesStayAtHome,
  'pure rooms use no clock, chance, timer, network or console': pureRoomsUseNoWorld,
  'live rooms use the injected clock': liveRoomsUseTheInjectedClock,
  'exceptions are used': exceptionsAreUsed,
  'tests are seeded': testsAreSeeded,
  'code is not made from text': codeIsNotMadeFromText,
  'files are short': filesAreShort,
  'functions are short': functionsAreShort,
  'nesting is low': nestingIsLow,
  'tables are data': tablesAreData,
  'nothing is called utils': nothingIsCalledUtils,
  'names are snake_case': namesAreSnakeCase,
  'tests mirror rooms': testsMirrorRooms,
  'filters are named at home': filtersAreNamedAtHome,
  'exceptions of filter names are used': namesAreUsed,
  'filters are imported at home': filtersAreImportedAtHome,
  'exceptions of filter imports are used': filterImportsAreUsed,
  'no file is dead': noFileIsDead,
  'waiting has an end': waitingHasAnEnd,
  'pages have one title': pagesHaveOneTitle,
  'decisions are listed': decisionsAreListed,
  'paths that texts name exist': namedPathsExist,
  'texts are plain English': textsArePlain,
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;
