import { mutationJson, mutationJunit, mutationPage, mutationText } from '../project_files/mutation_report.ts';

/** The reports of `mutate`, and of its merged parts. */
export const MUTATION_REPORTERS = {
  text: mutationText,
  json: mutationJson,
  html: mutationPage,
  junit: mutationJunit,
};
