/** Who has to act: the caller of the API, or whoever runs Inlet. A partner's failure is final; ours is tried again. */
type Fault = 'partner' | 'operator';

export type CatalogueEntry = {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
  readonly fault: Fault;
  /** The HTTP status of an answer with this code; absent for codes that never appear in one. */
  readonly status?: number;
  /** Why an operator's command was refused: in no answer and on no record. */
  readonly isOfCommand?: true;
};
