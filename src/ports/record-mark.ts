/** Another one when the record is another, and whether it has reached a final status. No data of the record is in it. */
export type RecordMark = { readonly id: number; readonly isFinal: boolean; readonly mark: string };
